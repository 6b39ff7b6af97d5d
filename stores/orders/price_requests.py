"""Requests for prices and orders, the products they name, and the checks of their items."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from fulfillment.core.errors import Fault
from stores.orders.eddm import Choice

MAXIMUM_ITEMS = 500


@dataclass(frozen=True, slots=True)
class PriceRequestItem:
    """`quantity` is that of `choice`, for an item that is requested for an EDDM selection."""

    item_key: str
    product_id: str
    quantity: int
    choice: Choice | None = None


@dataclass(frozen=True, slots=True)
class PriceRequest:
    """Items and a destination to price; `destination_pointer` is the JSON pointer of the destination in the body."""

    items: tuple[PriceRequestItem, ...]
    country_code: str
    location_type: str = ""
    delivery_method_code: str | None = None
    production_days: int | None = None
    destination_pointer: str = "/ShipTo"


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """An order as the caller sent it; `template_data` has an entry for each item, None if none was sent.

    `placed` is set for orders imported from another system: when they were placed there.
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


@dataclass(frozen=True, slots=True)
class Price:
    delivery_method_code: str
    location_type: str
    price: Decimal
    description: str


@dataclass(frozen=True, slots=True)
class ListedProduct:
    """`takes_data` if the product has fields or a template."""

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
    speeds: tuple[tuple[int, bool], ...]
    takes_data: bool
    is_eddm: bool = False


def item_faults(price_request: PriceRequest, products: Mapping[str, ListedProduct]) -> list[Fault]:
    faults = [
        fault for index, item in enumerate(price_request.items) for fault in _faults(index, item, products)
    ]
    return [*faults, *repeated_item_keys(price_request)]


def repeated_item_keys(price_request: PriceRequest) -> Iterator[Fault]:
    item_keys: set[str] = set()
    for index, item in enumerate(price_request.items):
        if item.item_key in item_keys:
            message = f"ItemKey: {item.item_key} is the key of another item."
            yield Fault(f"/Items/{index}/ItemKey", "item_key_repeated", message)
        item_keys.add(item.item_key)


def _faults(index: int, item: PriceRequestItem, products: Mapping[str, ListedProduct]) -> list[Fault]:
    product = products.get(item.product_id)
    if product is None:
        message = (
            f"ProductID: there is no product {item.product_id!r}; GET /store/{{storeID}}/product lists them."
        )
        return [Fault(f"/Items/{index}/ProductID", "product_unknown", message), *choice_faults(index, item)]
    if item.choice is not None:
        return _faults_of_choice(index, item, product)
    least, most, step = product.minimum_quantity, product.maximum_quantity, product.quantity_increment
    allowed = f"from {least} to {most} in steps of {step}"
    if item.quantity < least:
        code = "quantity_below_minimum"
    elif item.quantity > most:
        code = "quantity_above_maximum"
    elif (item.quantity - least) % step:
        code = "quantity_not_in_steps"
    else:
        return []
    message = f"Quantity: {item.quantity} of {item.product_id} cannot be ordered; allowed: {allowed}."
    return [Fault(f"/Items/{index}/Quantity", code, message)]


def choice_faults(index: int, item: PriceRequestItem) -> list[Fault]:
    """Why the item's selection cannot be ordered."""
    if item.choice is None or item.choice.problem is None:
        return []
    code, message = item.choice.problem
    return [Fault(f"/Items/{index}/EddmSelectionID", code, f"EddmSelectionID: {message}")]


def _faults_of_choice(index: int, item: PriceRequestItem, product: ListedProduct) -> list[Fault]:
    """Faults of a selection. Its number of pieces follows from the routes, so quantity steps do not apply."""
    where = f"/Items/{index}/EddmSelectionID"
    if not product.is_eddm:
        message = f"EddmSelectionID: {item.product_id} is no product for EDDM; send a Quantity."
        return [Fault(where, "product_not_for_eddm", message)]
    if faults := choice_faults(index, item):
        return faults
    least, most = product.minimum_quantity, product.maximum_quantity
    if least <= item.quantity <= most:
        return []
    code = "quantity_below_minimum" if item.quantity < least else "quantity_above_maximum"
    message = (
        f"EddmSelectionID: the selection takes {item.quantity} pieces of {item.product_id}; "
        f"allowed: from {least} to {most}."
    )
    return [Fault(where, code, message)]
