"""Refusals of bodies of orders and quotes: with the mistakes of the body, and what its other parts break.

A member with a mistake hides what depends on it: nothing is said of the products of an item that cannot be read.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from rest_framework.exceptions import ValidationError

from fulfillment.core.api.errors import counted_faults
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.errors import Fault, Invalid, ServiceBusy, TooManyAtOnce
from fulfillment.core.faults import CountedFaults
from stores.orders.api.quote_serializers import QuoteRequestSerializer
from stores.orders.api.requests import order_request_of, price_request_from
from stores.orders.api.serializers import OrderRequestSerializer
from stores.orders.models import RECIPIENT_FIELDS
from stores.orders.price_requests import PriceRequest
from stores.orders.selectors.access import StoreAccess
from stores.orders.services.large_orders import large_order_slot
from stores.orders.services.quotes import quote_faults
from stores.orders.services.refusals import order_faults
from stores.orders.services.validation import OrderRequest

BODY: dict[str, type] = {
    **dict.fromkeys(("QuoteID", "OptionID", "DeliveryMethodCode", "ReprintOfOrderID"), str),
    "ProductionDays": int,
    "Items": list,
    "Metadata": dict,
}
ITEM: dict[str, type] = {
    **dict.fromkeys(("ItemKey", "ProductID", "EddmSelectionID"), str),
    "Quantity": int,
    "TemplateData": dict,
}
PLACE: dict[str, type] = dict.fromkeys((*RECIPIENT_FIELDS, "LocationType"), str)
QUOTED = frozenset({"QuoteID", "OptionID"})


def checked_order_request(access: StoreAccess, data: Any) -> OrderRequest:
    """The order of the body; raises Invalid with all of its faults."""
    try:
        return order_request_of(validate_data(OrderRequestSerializer, data))
    except ValidationError as refusal:

        def faults(values: Mapping[str, Any]) -> list[Fault]:
            return order_faults(access=access, request=order_request_of(values))

        raise _refusal(
            access, _Readable(data, "Recipient", counted_faults(refusal.detail)), faults
        ) from refusal


def checked_price_request(access: StoreAccess, data: Any) -> PriceRequest:
    """The price request of the body; raises Invalid with all of its faults."""
    try:
        return price_request_from(validate_data(QuoteRequestSerializer, data))
    except ValidationError as refusal:

        def faults(values: Mapping[str, Any]) -> list[Fault]:
            return quote_faults(access=access, price_request=price_request_from(values))

        raise _refusal(access, _Readable(data, "ShipTo", counted_faults(refusal.detail)), faults) from refusal


def _refusal(
    access: StoreAccess, body: "_Readable", faults_of: Callable[[Mapping[str, Any]], list[Fault]]
) -> Invalid:
    faults = body.faults
    if body.is_readable:
        values = body.values()
        # Without a slot the refusal names the mistakes of the body alone.
        with suppress(ServiceBusy, TooManyAtOnce), large_order_slot(access.caller, len(values["Items"])):
            for fault in faults_of(values):
                if not body.hides(fault.pointer) and faults.count_one():
                    faults.listed.append(fault)
    return Invalid(faults.summary, code="invalid_body", faults=faults.listed, fault_count=faults.count)


class _Readable:
    """The members of a body that have no mistake; `destination` is the name of the one with the country."""

    def __init__(self, data: Any, destination: str, faults: CountedFaults) -> None:
        self.faults = faults
        self._data, self._destination = data, destination
        self._hidden = {fault.pointer for fault in faults.listed}

    @property
    def is_readable(self) -> bool:
        """Whether the place of every mistake is known."""
        return isinstance(self._data, Mapping) and self.faults.count == len(self.faults.listed)

    def values(self) -> dict[str, Any]:
        """The values as from the serializer; an unreadable item has no product, so that others keep their place."""
        kinds = BODY | {self._destination: dict}
        values = self._members(self._data, "", kinds)
        place = self._members(values.get(self._destination), f"/{self._destination}", PLACE)
        values[self._destination] = {"CountryCode": "", **place}
        values["Items"] = [
            self._item(f"/Items/{index}", item) for index, item in enumerate(values.get("Items", ()))
        ]
        values["Metadata"] = {
            name: text for name, text in values.get("Metadata", {}).items() if isinstance(text, str)
        }
        self._hide_half_a_quote(values)
        return values

    def hides(self, pointer: str) -> bool:
        """Whether a mistake is there or above."""
        while pointer:
            if pointer in self._hidden:
                return True
            pointer = pointer.rpartition("/")[0]
        return False

    def _item(self, where: str, item: Any) -> dict[str, Any]:
        found = {"ProductID": "", **self._members(item, where, ITEM)}
        if "Quantity" not in found:
            self._hidden.add(f"{where}/Quantity")
        return found

    def _hide_half_a_quote(self, values: dict[str, Any]) -> None:
        """An order of a quote that cannot be read is compared with no price."""
        sent = any(self._data.get(name) is not None for name in QUOTED)
        if sent and (not values.keys() >= QUOTED or "" in self._hidden):
            values.update(dict.fromkeys(QUOTED, ""))
            self._hidden |= {f"/{name}" for name in QUOTED}

    def _members(self, data: Any, where: str, kinds: Mapping[str, type]) -> dict[str, Any]:
        if not isinstance(data, Mapping) or (where and where in self._hidden):
            return {}
        found = {
            name: data[name]
            for name, kind in kinds.items()
            if isinstance(data.get(name), kind) and f"{where}/{name}" not in self._hidden
        }
        return {name: value.strip() if isinstance(value, str) else value for name, value in found.items()}
