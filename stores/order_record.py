"""Adds the IDs of batches and rows to an order's record, and translates between IDs and numbers of orders."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from stores.batches.selectors.rows import rows_of_order
from stores.orders.models import Order


def complete_record(*, order: Order, record: dict[str, Any]) -> None:
    rows = rows_of_order(order)
    if not rows:
        return
    record["BatchID"] = str(rows[0].batch_id)
    if rows[0].is_whole_order:
        record["RowKey"] = rows[0].key
        return
    keys = {row.item_key: row.key for row in rows}
    for item in record["Items"]:
        item["RowKey"] = keys[item["ItemKey"]]


def order_numbers(*, order_ids: Iterable[UUID]) -> dict[UUID, int]:
    return dict(Order.objects.filter(pk__in=order_ids).values_list("pk", "number"))


def find_order(*, number: int) -> UUID | None:
    return Order.objects.filter(number=number).values_list("pk", flat=True).first()
