"""Requests for prices and orders, and what is wrong with their items, without database access."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from fulfillment.core.errors import Fault
from stores.orders.eddm import RequestedSelection
from stores.proofs.services.artwork import ArtworkChoice


@dataclass(frozen=True, slots=True)
class PriceRequestItem:
    """`quantity` is that of `eddm`, for an item that is requested for an EDDM selection.

    `artwork` is the caller's own PDF that is to be printed.
    """

    item_key: str
    product_id: str
    quantity: int
    eddm: RequestedSelection | None = None
    artwork: ArtworkChoice | None = None

    @property
    def selection_id(self) -> str:
        return self.eddm.selection_id if self.eddm else ""


@dataclass(frozen=True, slots=True)
class PriceRequest:
    """Items and a destination to price; `destination_pointer` is the JSON pointer of the destination in the body."""

    items: tuple[PriceRequestItem, ...]
    country_code: str
    location_type: str = ""
    delivery_method_code: str | None = None
    production_days: int | None = None
    destination_pointer: str = "/ShipTo"

    @property
    def route_count(self) -> int:
        """Of all items, as far as their selections are resolved."""
        return sum(item.eddm.route_count for item in self.items if item.eddm)


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """An order as the caller sent it; `template_data` has an entry for each item, None if none was sent.

    `placed` is set for orders imported from another system: when they were placed there. `labels` has a text for each
    item by which packing finds it; empty if there is none. `checked_price` is the unit price of an earlier check, which
    binds with the quantities, the delivery and the speed of this request.
    """

    price_request: PriceRequest
    recipient: Mapping[str, str]
    template_data: Sequence[Mapping[str, Any] | None]
    external_id: str | None = None
    quote_id: str | None = None
    option_id: str | None = None
    metadata: Mapping[str, str] | None = None
    reprint_of: str | None = None
    placed: datetime | None = None
    labels: Sequence[str] = ()
    # Not in the text of a request: that is in the key of a form, which may be sent again after an update.
    checked_price: Decimal | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Price:
    delivery_method_code: str
    location_type: str
    price: Decimal
    description: str


class Speed(NamedTuple):
    days: int
    is_default: bool


@dataclass(frozen=True, slots=True)
class ListedProduct:
    """`takes_data` if the product has fields or a template; `finishing` is that of `OrderItem`."""

    pk: int
    product_id: str
    name: str
    version: int
    minimum_quantity: int
    maximum_quantity: int
    quantity_increment: int
    delivery_method: str
    default_location_type: str
    prices: tuple[Price, ...]
    speeds: tuple[Speed, ...]
    takes_data: bool
    is_eddm: bool = False
    finishing: Mapping[str, Any] = field(default_factory=dict)


def item_faults(price_request: PriceRequest, products: Mapping[str, ListedProduct]) -> list[Fault]:
    faults = [
        fault
        for index, item in enumerate(price_request.items)
        for fault in _item_faults(index, item, products)
    ]
    return [*faults, *repeated_item_keys(price_request)]


def repeated_item_keys(price_request: PriceRequest) -> Iterator[Fault]:
    item_keys: set[str] = set()
    for index, item in enumerate(price_request.items):
        if item.item_key in item_keys:
            message = _("ItemKey: %(item_key)s is the key of another item.") % {"item_key": item.item_key}
            yield Fault(f"/Items/{index}/ItemKey", "item_key_repeated", message)
        item_keys.add(item.item_key)


def _item_faults(index: int, item: PriceRequestItem, products: Mapping[str, ListedProduct]) -> list[Fault]:
    product = products.get(item.product_id)
    if product is None:
        message = (
            f"ProductID: there is no product {item.product_id!r}; GET /store/{{storeID}}/product lists them."
        )
        return [Fault(f"/Items/{index}/ProductID", "product_unknown", message), *eddm_faults(index, item)]
    if item.eddm is not None:
        return _selection_faults(index, item, product)
    return _quantity_faults(index, item, product)


def _quantity_faults(index: int, item: PriceRequestItem, product: ListedProduct) -> list[Fault]:
    least, most, step = product.minimum_quantity, product.maximum_quantity, product.quantity_increment
    if item.quantity < least:
        code = "quantity_below_minimum"
    elif item.quantity > most:
        code = "quantity_above_maximum"
    elif (item.quantity - least) % step:
        code = "quantity_not_in_steps"
    else:
        return []
    limits = {"minimum": least, "maximum": most, "step": step}
    allowed = _("from %(minimum)s to %(maximum)s in steps of %(step)s") % limits
    message = _("Quantity: %(quantity)s cannot be ordered; allowed: %(allowed)s.") % {
        "quantity": item.quantity,
        "allowed": allowed,
    }
    return [Fault(f"/Items/{index}/Quantity", code, message)]


def eddm_faults(index: int, item: PriceRequestItem) -> list[Fault]:
    """Why the item's selection cannot be ordered."""
    if item.eddm is None or item.eddm.problem is None:
        return []
    code, problem = item.eddm.problem
    message = _("EddmSelectionID: %(message)s") % {"message": problem}
    return [Fault(f"/Items/{index}/EddmSelectionID", code, message)]


def _selection_faults(index: int, item: PriceRequestItem, product: ListedProduct) -> list[Fault]:
    """Faults of a selection. Its number of pieces follows from the routes, so quantity steps do not apply."""
    selection_pointer = f"/Items/{index}/EddmSelectionID"
    if not product.is_eddm:
        message = _("EddmSelectionID: %(product_id)s is no product for EDDM; send a Quantity.") % {
            "product_id": item.product_id
        }
        return [Fault(selection_pointer, "product_not_for_eddm", message)]
    if faults := eddm_faults(index, item):
        return faults
    least, most = product.minimum_quantity, product.maximum_quantity
    if least <= item.quantity <= most:
        return []
    code = "quantity_below_minimum" if item.quantity < least else "quantity_above_maximum"
    message = _(
        "EddmSelectionID: the selection takes %(quantity)s pieces of %(product_id)s; allowed: "
        "from %(minimum)s to %(maximum)s."
    ) % {"quantity": item.quantity, "product_id": item.product_id, "minimum": least, "maximum": most}
    return [Fault(selection_pointer, code, message)]
