"""The export view: stored rows of a store's orders, found by their position at any depth."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.db.replica import Rows, fetch_replicated
from stores.orders.models import LIVE_POSITIONS, Order
from stores.orders.representations import Record, export_record, history_record, item_record, shipment_record
from stores.orders.selectors.access import (
    READ,
    STORE,
    StoreAccess,
    access_parameters,
    is_granted,
    store_access_from_row,
)
from stores.orders.selectors.export_query import LAST, OrderExportQuery, filters_of
from stores.orders.selectors.export_statements import count_changed_statement, count_statement, rows_statement

BATCH = 2000
# A page of full records ends before it exceeds this size, even if it has fewer than `take` orders.
PAGE_BYTES = 16_000_000

NEWEST = "SELECT position FROM stores_order WHERE store_id = %(store)s AND position > 0 ORDER BY position DESC LIMIT 1"
SPAN = f"""
SELECT o.position, o.rendering, ({NEWEST}) FROM stores_order o
WHERE o.store_id = %(store)s AND o.position > %(low)s AND o.position <= %(high)s
ORDER BY o.position LIMIT %(limit)s
"""  # noqa: S608 - fixed parts only
# The caller's access and a page of a whole store. Positions have no gaps, so the last one is known beforehand.
# The limit is a number in the text: with a parameter the planner would guess, and plan again for each request.
AUTHORIZED_SPAN = f"""
WITH access AS MATERIALIZED ({STORE})
SELECT access.*, page.body, page.newest FROM access LEFT JOIN LATERAL (
    SELECT convert_to('[' || coalesce(string_agg(o.rendering, ',' ORDER BY o.position), '') || ']', 'UTF8') AS body,
           (SELECT position FROM stores_order
            WHERE store_id = access.id AND position > 0 ORDER BY position DESC LIMIT 1) AS newest
    FROM (
        SELECT position, rendering FROM stores_order
        WHERE store_id = access.id AND position > %(low)s AND position <= %(high)s
          AND (%(operator)s OR %(needed)s = ANY(access.associated || access.held))
        ORDER BY position LIMIT {{limit}}
    ) o
) page ON true
"""  # noqa: S608 - fixed parts only
AUTHORIZED_SPANS = {limit: AUTHORIZED_SPAN.format(limit=limit) for limit in (100, 1000)}
# An upper bound for the bytes of each full record: the JSON around its texts is rounded up.
SIZES = """
SELECT o.position, 200 + octet_length(o.rendering) + octet_length(o.recipient::text)
    + (SELECT coalesce(sum(700 + octet_length(i.product_name) + coalesce(octet_length(i.template_data::text), 0)
                           + coalesce(octet_length(i.preflight::text), 0)), 0)
       FROM stores_orderitem i WHERE i.order_id = o.id)
    + (SELECT coalesce(sum(200 + octet_length(s.carrier) + octet_length(s.tracking_number)
                           + octet_length(s.tracking_url) + octet_length(s.item_keys::text)), 0)
       FROM stores_shipment s WHERE s.order_id = o.id)
    + (SELECT coalesce(sum(200 + octet_length(h.note)), 0) FROM stores_orderhistory h WHERE h.order_id = o.id)
FROM stores_order o WHERE o.store_id = %s AND o.position = ANY(%s)
"""
TALLY = """
SELECT coalesce(sum(orders), 0) FROM stores_ordertally
WHERE store_id = %(store)s AND (%(application)s::uuid IS NULL OR application_id = %(application)s)
  AND (%(statuses)s::smallint[] IS NULL OR status = ANY(%(statuses)s::smallint[]))
"""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of rows; `created` of each order only where live and test orders are mixed."""

    positions: list[int]
    renderings: list[str]
    has_more: bool
    newest: int | None = None
    created: Sequence[datetime] = ()


@dataclass(frozen=True, slots=True)
class SpanPage:
    """The finished JSON body of a page of all orders of a store; `newest` counts them."""

    body: bytes
    last: int
    newest: int

    @property
    def has_more(self) -> bool:
        return self.newest > self.last


def authorized_range_page(caller: Caller, store_id: str, *, low: int, take: int) -> StoreAccess | SpanPage:
    """The page after `low` of a store's live orders, in the statement that checks the access to the store.

    The access alone for callers that see only their own orders, and for test applications.
    """
    last = min(low + take, LAST)
    page = {"low": low, "high": last, "operator": caller.is_operator, "needed": READ[0]}
    statement = AUTHORIZED_SPANS[100 if take <= 100 else 1000]
    rows = fetch_replicated(
        caller.replica_since,
        statement,
        access_parameters(caller, store_id) | page,
        suffices=lambda rows: bool(rows) and is_granted(caller, READ, rows[0]),
    )
    row = rows[0] if rows else None
    if row and is_granted(caller, READ[:1], row) and False in caller.modes:
        return SpanPage(row[-2], last, row[-1] or 0)
    return store_access_from_row(caller, store_id, READ, row and row[:-2])


def export_page(query: OrderExportQuery, *, skip: int, take: int) -> Page:
    query = query.simplified
    parameters = query.parameters | {"skip": skip, "limit": take + 1}
    if query.is_contiguous:
        parameters["low"] = min(query.low + skip, LAST)
    rows = fetch_replicated(query.replica_since, page_statement(query), parameters, suffices=_always)
    shown, newest = rows[:take], rows[0][2] if rows else None
    return Page([row[0] for row in shown], [row[1] for row in shown], len(rows) > take, newest)


def page_statement(query: OrderExportQuery) -> str:
    return SPAN if query.is_contiguous else rows_statement(filters_of(query), is_split=query.is_split)


def export_count(query: OrderExportQuery, page: Page) -> int:
    """The number of all matching orders, independent of the page."""
    query = replace(query, low=query.since).simplified
    if query.is_split:
        changed = _number(query, count_changed_statement(filters_of(query)))
        return changed + export_count(replace(query, since=query.edge), page)
    if query.is_contiguous:
        newest = page.newest or _number(query, NEWEST)
        return max(0, min(newest, query.high) - query.low)
    bounded = (query.low, query.high) != LIVE_POSITIONS
    # Tallies exist by application and status only.
    if not bounded and not any((query.user, query.product, query.number, query.external_id, query.updated)):
        return _number(query, TALLY)
    return _number(query, count_statement(filters_of(query)))


def export_rows(query: OrderExportQuery, *, skip: int, take: int | None) -> Iterator[str]:
    """Yields the stored rows, read in short statements, so memory use does not grow."""
    left = LAST if take is None else take
    while left > 0:
        page = export_page(query, skip=skip, take=min(BATCH, left))
        yield from page.renderings
        left -= len(page.renderings)
        if not page.has_more or not page.positions:
            return
        query, skip = query.after(page.positions[-1]), 0


def fitting_page(access: StoreAccess, page: Page) -> Page:
    """Cuts the page at PAGE_BYTES of full records, but keeps at least one order so that paging advances."""
    sizes = dict(fetch_rows(SIZES, (access.store.pk, page.positions)))
    ordered = [sizes.get(position, 0) for position in page.positions]
    fits = max(1, bisect_right(list(accumulate(ordered)), PAGE_BYTES))
    return replace(
        page,
        positions=page.positions[:fits],
        created=page.created[:fits],
        has_more=page.has_more or fits < len(page.positions),
    )


def verbose_records(
    access: StoreAccess, positions: Sequence[int], *, with_mode: bool = False
) -> list[Record]:
    """The full records, with items and shipments, in a fixed number of statements; `with_mode` adds IsTest."""
    store_id = access.store.external_id
    orders = Order.objects.filter(access.visible, position__in=positions).order_by("created", "position")
    return [
        {
            **export_record(order, store_id),
            **({"IsTest": order.is_test} if with_mode else {}),
            "Items": [item_record(item, order, store_id) for item in order.items.all()],
            "Shipments": [shipment_record(shipment) for shipment in order.shipments.all()],
            "History": [history_record(entry) for entry in order.history.all()],
            "Recipient": order.recipient,
        }
        for order in orders.prefetch_related("items", "shipments", "history")
    ]


def _always(rows: Rows) -> bool:
    """No order may match: the primary need not be read for that."""
    return True


def _number(query: OrderExportQuery, statement: str) -> int:
    rows = fetch_replicated(query.replica_since, statement, query.parameters, suffices=_always)
    return int(rows[0][0]) if rows else 0
