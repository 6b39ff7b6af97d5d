import re
from collections.abc import Iterable
from uuid import UUID

from accounts.callers import Caller
from accounts.selectors.modes import in_mode_of_new
from stores.catalog.models import TemplateField
from stores.proofs.models import Asset

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)


def assets_for(caller: Caller, store_id: int, asset_ids: Iterable[UUID]) -> dict[UUID, Asset]:
    """The pictures among these IDs that the caller uploaded to this store; on the service's own pages each user has
    its own."""
    owner: dict[str, UUID | None] = {"application_id": caller.application_id}
    if caller.is_first_party:
        owner["user_id"] = caller.user_id
    return Asset.objects.filter(in_mode_of_new(caller), store_id=store_id, **owner).in_bulk(list(asset_ids))


def assets_of_templates() -> set[UUID]:
    """The pictures that template fields have as default values."""
    values = TemplateField.objects.filter(type="Image").values_list("default_value", "org_value")
    return {UUID(value) for pair in values.iterator() for value in pair if _UUID.match(value)}
