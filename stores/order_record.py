"""What an order's record says of the batch that it was ordered with: an order itself knows of none."""

from typing import Any

from stores.batches.selectors import rows_of_order
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
