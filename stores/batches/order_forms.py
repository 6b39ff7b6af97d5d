"""The orders that rows ask for, by the rules of an order of the API."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from fulfillment.core.api.serializers import validate_data
from fulfillment.core.errors import Fault
from stores.batches.files.records import FileFault, Problem
from stores.batches.models import Batch, BatchMode, BatchRow
from stores.batches.row_contents import QUANTITY, cells_of, item_key_of, item_of, recipient_of
from stores.orders.request_bodies import price_request_from, read_order_request
from stores.orders.request_fields import OrderItemRequestSerializer
from stores.orders.requests import OrderRequest, PriceRequest
from stores.templates.selectors import fields_of

ITEM, DATA, TO = "/Items/0", "/Items/0/TemplateData", "/Recipient"
# What to do where the message alone does not say it: for a fault of the whole batch, and at a cell of a column.
REMEDIES = {
    "destination_not_served": "Choose an address in a country that is served, or another product.",
    "quantity_below_minimum": "Order more pieces.",
    "quantity_above_maximum": "Order fewer pieces.",
    "quantity_not_in_steps": "Choose a quantity in these steps.",
    "batch_outdated": "Order this row in a new batch.",
}
OF_THE_BATCH = "Change it for the whole batch."
CELLS: Mapping[str, Callable[[str], str]] = {
    "required": lambda column: f"Fill the cell in the column {column}.",
    "blank": lambda column: f"Fill the cell in the column {column}.",
    "too_long": lambda column: f"Shorten the text in the column {column}.",
    "max_length": lambda column: f"Shorten the text in the column {column}.",
    "does_not_fit": lambda column: f"Shorten the text in the column {column}.",
    "unknown_asset": lambda column: f"Upload the picture, and write its AssetID in the column {column}.",
    "invalid_postal_code": lambda column: (
        f"Write the postal code in the form of its country in the column {column}."
    ),
    "destination_not_served": lambda column: (
        f"Write a country that is served in the column {column}, or choose another product."
    ),
    "quantity_below_minimum": lambda column: f"Order more pieces in the column {column}.",
    "quantity_above_maximum": lambda column: f"Order fewer pieces in the column {column}.",
    "quantity_not_in_steps": lambda column: f"Choose a quantity in these steps in the column {column}.",
}


@dataclass(frozen=True, slots=True)
class RowForms:
    """How rows of a batch become orders; one is made for many rows."""

    batch: Batch
    blank_is_default: frozenset[str]

    @classmethod
    def of(cls, batch: Batch) -> "RowForms":
        fields = fields_of(batch.product_id)
        return cls(batch, frozenset(field.field_name for field in fields if field.type != "Text"))

    def data(self, row: BatchRow) -> dict[str, Any]:
        data: dict[str, Any] = self._item(row).get("TemplateData", {})
        return data

    def body(self, rows: Sequence[BatchRow], *, offer: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The body of an order with an item for each row. `offer` is the delivery and speed that were checked; then
        the quantities are those that were checked, also where the product has another default now.
        """
        batch = self.batch
        items = [{"ItemKey": item_key_of(row.key, row.number), **self._item(row)} for row in rows]
        delivery: dict[str, Any] = {}
        if offer is not None:
            delivery = {name: offer[name] for name in ("DeliveryMethodCode", "ProductionDays")}
            items = [{**item, "Quantity": row.quantity} for item, row in zip(items, rows, strict=True)]
        else:
            if batch.delivery_method_code:
                delivery["DeliveryMethodCode"] = batch.delivery_method_code
            if batch.production_days is not None:
                delivery["ProductionDays"] = batch.production_days
        recipient = batch.recipient
        if batch.mode == BatchMode.RECIPIENTS:
            recipient = recipient_of(cells_of(rows[0].values, batch.mapping), batch.recipient)
        return {**delivery, "Recipient": recipient, "Items": items}

    def request(self, rows: Sequence[BatchRow], *, offer: Mapping[str, Any] | None = None) -> OrderRequest:
        """Raises Invalid with what is wrong with the form of the order."""
        request = read_order_request(self.body(rows, offer=offer))
        checked_price = Decimal(offer["UnitPrice"]) if offer else None
        return replace(request, labels=[label_of(row) for row in rows], checked_price=checked_price)

    def item_request(self, row: BatchRow) -> PriceRequest:
        """The item of a row alone, where its recipient is in error; raises ValidationError as the form does."""
        item = validate_data(OrderItemRequestSerializer, self._item(row))
        return price_request_from({"Items": [item], "ShipTo": {"CountryCode": ""}})

    def problem_of(self, fault: Fault, row: BatchRow) -> Problem:
        """The fault of an order, at the cell that it comes from."""
        field = _find_field(fault.pointer)
        column = self.batch.mapping.get(field) if field else None
        value = row.values.get(column) if column else None
        message = fault.message.removeprefix(f"{fault.pointer.lstrip('/')}: ")
        message = f"{field}: {message}" if field and message != fault.message else message
        remedy = _suggest_remedy(fault.code, field, column)
        return FileFault(fault.code, message, remedy, field=field, column=column, value=value).record

    def finding_of(self, finding: Mapping[str, Any], row: BatchRow) -> Problem:
        """A finding of preflight, at the cell of the field by whose name its message begins, if any."""
        message, mapping = finding["Message"], self.batch.mapping
        targets = [target for target in mapping if message.startswith(f"{target} ")]
        field = max(targets, key=len, default=None)
        column = mapping[field] if field else None
        value = row.values.get(column) if column else None
        severity, remedy = finding["Severity"], finding["Remedy"]
        return FileFault(
            finding["Code"], message, remedy, severity=severity, field=field, column=column, value=value
        ).record

    def _item(self, row: BatchRow) -> dict[str, Any]:
        batch = self.batch
        return item_of(
            cells_of(row.values, batch.mapping),
            product_id=batch.product.external_id,
            quantity=batch.quantity or batch.product.default_quantity,
            blank_is_default=self.blank_is_default,
        )


def label_of(row: BatchRow) -> str:
    """The text by which packing finds the piece: the name and the key of the row."""
    return f"{row.name} ({row.key})" if row.name else row.key


def _suggest_remedy(code: str, field: str | None, column: str | None) -> str:
    if field and not column and field not in {QUANTITY, "Recipient"}:
        return f"Add a column for {field}, or map one to it."
    if column is None:
        return REMEDIES.get(code, OF_THE_BATCH)
    return CELLS[code](column) if code in CELLS else f"Correct the cell in the column {column}."


def _find_field(pointer: str) -> str | None:
    """The target of a mapping at which an order's JSON pointer points; None for what is of the whole batch."""
    for prefix, before in ((f"{DATA}/", ""), (f"{TO}/", "Recipient."), (f"{ITEM}/", "")):
        if pointer.startswith(prefix):
            name = pointer.removeprefix(prefix).partition("/")[0]
            return before + name.replace("~1", "/").replace("~0", "~")
    return "Recipient" if pointer == TO else None
