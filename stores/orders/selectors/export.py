"""The export view: orders of a store by filters, oldest first, in pages cut by (Created, OrderID)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.text import JsonObject
from stores.orders.models import Order
from stores.orders.representations import export_record, history_record, item_record, shipment_record
from stores.orders.selectors.access import StoreAccess

BATCH = 2000
# Beyond these a caller follows `Link`, and no total is given.
MAX_SKIP = MAX_COUNTED = 100_000
# A page of full records ends before it exceeds this size, even if it has fewer than `take` orders.
PAGE_BYTES = 16_000_000
# Larger pages of full records take a second of processor time and 100 MB of memory each.
LARGE_PAGE_BYTES = 1_000_000
OLDEST_FIRST = ("created", "id")
# The condition of each filter.
CONDITIONS = {
    "product_id": "product_ids @> ARRAY[%(product_id)s]::varchar[]",
    "order_number": "number = %(order_number)s::bigint",
    "external_id": "external_id = %(external_id)s",
    "created_after": "created >= %(created_after)s",
    "created_before": "created < %(created_before)s",
    "updated_after": "updated >= %(updated_after)s",
}
OWNERS = {"application": "application_id = %(application)s", "user": "user_id = %(user)s"}
MODES = {False: "NOT is_test", True: "is_test"}
PART = "SELECT created, id, is_test, rendering FROM stores_order WHERE {} ORDER BY created, id LIMIT %(end)s"
PAGE = "SELECT * FROM ({}) found ORDER BY created, id OFFSET %(skip)s LIMIT %(limit)s"
COUNTED = """
SELECT count(*) FROM (
    SELECT FROM stores_order WHERE {} AND (%(statuses)s::int[] IS NULL OR status = ANY(%(statuses)s)) LIMIT %(limit)s
) found
"""
TALLIED = """
SELECT coalesce(sum(orders), 0)::bigint FROM stores_ordertally
WHERE {} AND (%(statuses)s::int[] IS NULL OR status = ANY(%(statuses)s))
"""
# How many of the orders, in their order, fit into `most` bytes as full records, and their bytes. Those after them are
# not even read: the values of 1,000 orders can have gigabytes. The JSON around the texts of each is rounded up, a route
# to 80 bytes.
FITTING = """
WITH RECURSIVE fitting(orders, bytes) AS (
    SELECT 0, 0::bigint UNION ALL SELECT orders + 1, bytes + coalesce((
        SELECT 200 + octet_length(o.rendering) + octet_length(o.recipient::text)
            + (SELECT coalesce(sum(700 + octet_length(i.product_name)
                                   + coalesce(octet_length(i.template_data::text), 0)
                                   + coalesce(octet_length(i.preflight::text), 0)
                                   + coalesce(300 + 80 * jsonb_array_length(i.eddm -> 'Routes'), 0)), 0)
               FROM stores_orderitem i WHERE i.order_id = o.id)
            + (SELECT coalesce(sum(200 + octet_length(s.carrier) + octet_length(s.tracking_number)
                                   + octet_length(s.tracking_url) + octet_length(s.item_keys::text)), 0)
               FROM stores_shipment s WHERE s.order_id = o.id)
            + (SELECT coalesce(sum(200 + octet_length(h.note)), 0) FROM stores_orderhistory h WHERE h.order_id = o.id)
        FROM stores_order o WHERE o.id = (%(keys)s::uuid[])[orders + 1]
    ), 0)
    FROM fitting WHERE bytes <= %(most)s AND orders < cardinality(%(keys)s::uuid[])
)
SELECT count(*) - 1, max(bytes) FROM fitting WHERE bytes <= %(most)s
"""


class ExportCursor(NamedTuple):
    """The last order of a page; the next one begins after it."""

    created: datetime
    order_id: UUID


class ExportRow(NamedTuple):
    """The columns of PAGE."""

    created: datetime
    order_id: UUID
    is_test: bool
    rendering: str

    @property
    def cursor(self) -> ExportCursor:
        return ExportCursor(self.created, self.order_id)

    def text(self, *, with_mode: bool) -> str:
        """The stored row; `with_mode` adds IsTest."""
        mark = f',"IsTest":{"true" if self.is_test else "false"}}}'
        return f"{self.rendering[:-1]}{mark}" if with_mode else self.rendering


@dataclass(frozen=True, slots=True)
class ExportPage:
    rows: Sequence[ExportRow]
    has_more: bool


@dataclass(frozen=True, slots=True)
class ExportFilters:
    """The filters of the export view; `includes_tests` adds test orders that the caller can see."""

    statuses: Sequence[int] = ()
    product_id: str | None = None
    order_number: str | None = None
    external_id: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    updated_after: datetime | None = None
    includes_tests: bool = False

    @property
    def conditions(self) -> dict[str, Any]:
        """The values of those in CONDITIONS that are set."""
        return {name: value for name in CONDITIONS if (value := getattr(self, name)) is not None}

    @property
    def is_impossible(self) -> bool:
        """Whether the order number is none, such as one with a leading zero."""
        number = self.order_number
        return number is not None and not (re.fullmatch(r"[1-9][0-9]{0,18}", number) and int(number) < 2**63)


def export_page(
    access: StoreAccess, filters: ExportFilters, *, after: ExportCursor | None, skip: int, take: int
) -> ExportPage:
    # A query for each mode and status walks along its own index; one for several statuses could read all orders.
    visible, parameters = _visible_by_mode(access, filters)
    parts = list(visible.values())
    if filters.statuses:
        parts = [
            f"{part} AND status = {status:d}" for part in parts for status in sorted(set(filters.statuses))
        ]
    if not parts:
        return ExportPage([], has_more=False)
    parameters |= {"skip": skip, "limit": take + 1, "end": skip + take + 1}
    if after is not None:
        parts = [f"{part} AND (created, id) > (%(created)s, %(order_id)s)" for part in parts]
        parameters |= after._asdict()
    statement = " UNION ALL ".join(f"({PART.format(part)})" for part in parts)
    # There are too many different statements with filters to keep them prepared.
    is_plain = not filters.statuses and not filters.conditions
    rows = fetch_rows(PAGE.format(statement), parameters, prepare=is_plain)
    return ExportPage(list(map(ExportRow._make, rows[:take])), has_more=len(rows) > take)


def export_count(access: StoreAccess, filters: ExportFilters) -> int | None:
    """The number of all matching orders; None where more than MAX_COUNTED match and no counter has them."""
    visible, parameters = _visible_by_mode(access, filters)
    parameters |= {"statuses": list(filters.statuses) or None, "limit": MAX_COUNTED + 1}
    total = 0
    for is_test, conditions in visible.items():
        # Counters have live orders by application and status.
        has_counter = not is_test and not filters.conditions and "user" not in access.owner_filter
        statement = TALLIED.format(_owner(access)) if has_counter else COUNTED.format(conditions)
        [(counted,)] = fetch_rows(statement, parameters, prepare=has_counter)
        if counted > MAX_COUNTED and not has_counter:
            return None
        total += counted
    return total


def export_rows(
    access: StoreAccess, filters: ExportFilters, *, after: ExportCursor | None, skip: int, take: int | None
) -> Iterator[ExportRow]:
    """Reads in short statements, so memory use does not grow."""
    remaining, has_more = take, True
    while has_more and remaining != 0:
        size = BATCH if remaining is None else min(BATCH, remaining)
        page = export_page(access, filters, after=after, skip=skip, take=size)
        yield from page.rows
        remaining = None if remaining is None else remaining - len(page.rows)
        has_more, skip = page.has_more, 0
        after = page.rows[-1].cursor if page.rows else after


def fitting_page(page: ExportPage) -> tuple[ExportPage, bool]:
    """Cuts the page at PAGE_BYTES of full records, but keeps at least one order so that paging advances; with whether
    it is a large one.
    """
    keys = [row.order_id for row in page.rows]
    [(fitting, size)] = fetch_rows(FITTING, {"keys": keys, "most": PAGE_BYTES})
    fits = max(1, fitting)
    shortened = replace(page, rows=page.rows[:fits], has_more=page.has_more or fits < len(page.rows))
    return shortened, not fitting or size > LARGE_PAGE_BYTES


def verbose_records(access: StoreAccess, page: ExportPage, *, with_mode: bool = False) -> list[JsonObject]:
    """The full records, with items and shipments, in a fixed number of statements; `with_mode` adds IsTest."""
    store_id = access.store.external_id
    orders = Order.objects.filter(access.visible, pk__in=[row.order_id for row in page.rows])
    return [
        {
            **export_record(order, store_id),
            **({"IsTest": order.is_test} if with_mode else {}),
            "Items": [item_record(item, order, store_id) for item in order.items.all()],
            "Shipments": [shipment_record(shipment) for shipment in order.shipments.all()],
            "History": [history_record(entry) for entry in order.history.all()],
            "Recipient": order.recipient,
        }
        for order in orders.order_by(*OLDEST_FIRST).prefetch_related("items", "shipments", "history")
    ]


def _visible_by_mode(access: StoreAccess, filters: ExportFilters) -> tuple[dict[bool, str], dict[str, Any]]:
    """The conditions of orders that match, but for their status, by `is_test`, and their parameters."""
    parameters = {"store": access.store.pk, **access.owner_filter, **filters.conditions}
    if filters.is_impossible:
        return {}, parameters
    modes = [mode for mode in access.caller.modes if filters.includes_tests or not mode]
    common = " AND ".join([_owner(access), *(CONDITIONS[name] for name in filters.conditions)])
    return {mode: f"{common} AND {MODES[mode]}" for mode in modes}, parameters


def _owner(access: StoreAccess) -> str:
    return " AND ".join(["store_id = %(store)s", *(OWNERS[name] for name in access.owner_filter)])
