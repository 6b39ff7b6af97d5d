"""Uploaded pictures and PDFs are kept as long as an order that prints them needs them."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from fulfillment.core.db.prepared import execute
from stores.orders.models import Order, OrderedAsset
from stores.proofs.models import Asset
from stores.proofs.selectors import assets_of_templates
from stores.proofs.services.asset_files import remove_asset_files
from stores.proofs.services.assets import TOUCH_AFTER

# Locked, so that retention cannot remove them at the same time.
ORDERED = """
INSERT INTO stores_orderedasset (order_id, asset_id)
SELECT %s, id FROM stores_asset WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE
ON CONFLICT DO NOTHING
"""


@transaction.atomic(savepoint=False)
def record_ordered_assets(*, order_id: UUID, asset_ids: Collection[UUID]) -> None:
    """Ignores pictures that were removed since the print file was rendered: only the file is printed."""
    if asset_ids:
        execute(ORDERED, [order_id, list(asset_ids)])
        Asset.objects.filter(pk__in=asset_ids, is_ordered=False).update(is_ordered=True)


@transaction.atomic
def delete_ordered_assets(*, order: Order) -> None:
    """Deletes the pictures that are printed in this order only.

    A picture that was used later or is a template's default stays until retention removes it as unused.
    """
    uses = OrderedAsset.objects.filter(order=order)
    assets = Asset.objects.filter(pk__in=uses.values("asset"))
    held = list(assets.order_by("pk").select_for_update())
    uses.delete()
    elsewhere = set(OrderedAsset.objects.filter(asset__in=held).values_list("asset", flat=True))
    free = [one for one in held if one.pk not in elsewhere]
    Asset.objects.filter(pk__in=[one.pk for one in free]).update(is_ordered=False)
    named = assets_of_templates() if free else set()
    removed = [one for one in free if one.pk not in named and one.last_used < order.created + TOUCH_AFTER]
    Asset.objects.filter(pk__in=[one.pk for one in removed]).delete()
    # The row first: retention removes a file that remains after a crash.
    transaction.on_commit(lambda: remove_asset_files(removed))
