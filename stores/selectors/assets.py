from collections.abc import Iterable
from uuid import UUID

from accounts.callers import Caller
from stores.models import Asset


def assets_for(caller: Caller, store_id: int, asset_ids: Iterable[UUID]) -> dict[UUID, Asset]:
    """Those of the pictures that this application sent to this store; the service's own pages tell users apart."""
    owner: dict[str, UUID | None] = {"application_id": caller.application_id}
    if caller.is_first_party:
        owner["user_id"] = caller.user_id
    return Asset.objects.filter(store_id=store_id, **owner).in_bulk(list(asset_ids))
