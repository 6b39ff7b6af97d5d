"""Which uploaded pictures are printed in which orders: they stay as long as the order needs them."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from fulfillment.core.db.prepared import execute
from fulfillment.core.files.stored import asset_file, remove_files
from stores.orders.models import Order, OrderedAsset
from stores.proofs.models import Asset
from stores.proofs.selectors.assets import assets_of_templates
from stores.proofs.services.assets import TOUCH_AFTER

# Locked against a removal at the same time.
ORDERED = """
INSERT INTO stores_orderedasset (order_id, asset_id)
SELECT %s, id FROM stores_asset WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE
ON CONFLICT DO NOTHING
"""


@transaction.atomic(savepoint=False)
def hold_ordered_assets(*, order_id: UUID, asset_ids: Collection[UUID]) -> None:
    """A picture that was removed since the print file was rendered is left out: the file is what is printed."""
    if asset_ids:
        execute(ORDERED, [order_id, list(asset_ids)])
        Asset.objects.filter(pk__in=asset_ids, is_ordered=False).update(is_ordered=True)


@transaction.atomic
def forget_ordered_assets(*, order: Order) -> None:
    """Removes the pictures printed in this order alone.

    One used after it, or named by a template, is only no longer held: it goes when it is unused for long enough.
    """
    uses = OrderedAsset.objects.filter(order=order)
    assets = Asset.objects.filter(pk__in=uses.values("asset"))
    held = list(assets.order_by("pk").select_for_update())
    uses.delete()
    elsewhere = set(OrderedAsset.objects.filter(asset__in=held).values_list("asset", flat=True))
    free = [one for one in held if one.pk not in elsewhere]
    Asset.objects.filter(pk__in=[one.pk for one in free]).update(is_ordered=False)
    named = assets_of_templates() if free else set()
    gone = [one for one in free if one.pk not in named and one.last_used < order.created + TOUCH_AFTER]
    Asset.objects.filter(pk__in=[one.pk for one in gone]).delete()
    # The row first: a file that stays behind is a stray one of the next pruning.
    names = [asset_file(one.pk, one.format) for one in gone]
    transaction.on_commit(lambda: remove_files(names))
