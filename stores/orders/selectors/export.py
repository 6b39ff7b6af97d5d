"""The export view: stored rows of a store's orders, found by their position at any depth."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import accumulate
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_row, fetch_rows
from stores.orders.models import LIVE_POSITIONS, Order
from stores.orders.representations import Record, export_record, history_record, item_record, shipment_record
from stores.orders.selectors.access import READ, STORE, StoreAccess, access_parameters, store_access_from_row

LAST = LIVE_POSITIONS[1]
BATCH = 2000
# A page of orders in full ends where it would be larger, whatever `take` says.
PAGE_BYTES = 16_000_000

# Within a store `created` rises with `position`: a span of time is a span of positions. Test orders are below zero,
# and stores.orders.selectors.export_with_tests alone looks there.
BOUNDS = """
SELECT (SELECT position FROM stores_order
        WHERE store_id = %(store)s AND created < %(after)s::timestamptz
          AND position > %(lowest)s::int AND position <= %(highest)s::int
        ORDER BY created DESC, position DESC LIMIT 1),
       (SELECT position FROM stores_order
        WHERE store_id = %(store)s AND created < %(before)s::timestamptz
          AND position > %(lowest)s::int AND position <= %(highest)s::int
        ORDER BY created DESC, position DESC LIMIT 1)
"""
PRODUCT = "SELECT id FROM stores_product WHERE store_id = %s AND external_id = %s"
NEWEST = "SELECT position FROM stores_order WHERE store_id = %(store)s AND position > 0 ORDER BY position DESC LIMIT 1"
SPAN = f"""
SELECT o.position, o.rendering, ({NEWEST}) FROM stores_order o
WHERE o.store_id = %(store)s AND o.position > %(low)s AND o.position <= %(high)s
ORDER BY o.position LIMIT %(limit)s
"""  # noqa: S608 - fixed parts only
# A page of a whole store together with who may see it. Positions have no gaps: its end is known beforehand.
# The limit is a number in the text: with a parameter the planner guesses, and plans anew for each request.
OPENED_SPAN = f"""
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
OPENED_SPANS = {limit: OPENED_SPAN.format(limit=limit) for limit in (100, 1000)}
ROWS = """
SELECT o.position, o.rendering, NULL::integer FROM ({keys}) AS k
JOIN stores_order o ON o.store_id = %(store)s AND o.position = k.position ORDER BY o.position
"""
SPAN_OF_ORDERS = ("o.store_id = %(store)s", "o.position > %(low)s", "o.position <= %(high)s")
PAGE = " ORDER BY position OFFSET %(skip)s LIMIT %(limit)s"
# Without this the planner may walk through all orders of a store to find the few of a rare status.
BY_STATUS = """
SELECT one.position FROM unnest(%(statuses)s::smallint[]) AS wanted(status) CROSS JOIN LATERAL (
    SELECT o.position FROM stores_order o
    WHERE o.store_id = %(store)s AND o.status = wanted.status
      AND o.position > %(low)s AND o.position <= %(high)s
    ORDER BY o.position LIMIT %(skip)s::bigint + %(limit)s::bigint
) one
"""
# What was changed since a moment: of orders from before it those in the index of changes, which are few; from it on all
# orders, by position. The planner does not know that both rise together, and would walk from the store's first order.
BEFORE = """
SELECT coalesce((
    SELECT position FROM stores_order WHERE store_id = %(store)s AND created < %(updated)s AND position > 0
    ORDER BY created DESC, position DESC LIMIT 1
), 0)
"""
# `+ 0`, so that the index of positions is not taken there.
CHANGED = f"""
SELECT either.position FROM (
    (SELECT fenced.position FROM (
        SELECT o.position FROM stores_order o
        WHERE o.store_id = %(store)s AND o.updated >= %(updated)s AND %(low)s < ({BEFORE})
          AND o.position + 0 > %(low)s AND o.position + 0 <= %(high)s AND o.position + 0 <= ({BEFORE})
        OFFSET 0
    ) fenced ORDER BY fenced.position LIMIT %(skip)s::bigint + %(limit)s::bigint)
    UNION ALL
    (SELECT o.position FROM stores_order o
     WHERE o.store_id = %(store)s AND o.updated >= %(updated)s
       AND o.position > %(low)s AND o.position <= %(high)s AND o.position > ({BEFORE})
     ORDER BY o.position LIMIT %(skip)s::bigint + %(limit)s::bigint)
) either
"""  # noqa: S608 - fixed parts only
CHANGED_ROWS = ROWS.format(keys=CHANGED + PAGE)
BY_CHANGE_ALONE = (False, False, False, False, False, False, True)
# How many bytes each order takes in full, a little more rather than less: what surrounds the texts is rounded up.
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
class OrderExportQuery:
    """The filters of the export view; positions above `low`, up to and including `high`."""

    store: int
    application: UUID | None = None
    user: UUID | None = None
    statuses: tuple[int, ...] | None = None
    product: int | None = None
    number: int | None = None
    external_id: str | None = None
    updated: datetime | None = None
    low: int = LIVE_POSITIONS[0]
    high: int = LAST
    since: int = LIVE_POSITIONS[0]

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "store": self.store,
            "application": self.application,
            "user": self.user,
            "statuses": None if self.statuses is None else list(self.statuses),
            "product": self.product,
            "number": self.number,
            "external_id": self.external_id,
            "updated": self.updated,
            "low": self.low,
            "high": self.high,
        }

    @property
    def is_contiguous(self) -> bool:
        """Whether only a range of positions is requested, which has no gaps for live orders."""
        return self.low >= 0 and not any(form_of(self))

    def after(self, position: int) -> "OrderExportQuery":
        return replace(self, low=max(self.low, position))


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


def authorized_range_page(
    caller: Caller, store_id: str, *, low: int, take: int
) -> tuple[StoreAccess, SpanPage | None]:
    """The store and, in the same statement, the page after `low` of its live orders.

    No page for callers that see only their own orders, and for test applications.
    """
    last = min(low + take, LAST)
    page = {"low": low, "high": last, "operator": caller.is_operator, "needed": READ[0]}
    statement = OPENED_SPANS[100 if take <= 100 else 1000]
    row = fetch_row(statement, access_parameters(caller, store_id) | page)
    access = store_access_from_row(caller, store_id, READ, row and row[:-2])
    if row is None or not access.sees_all_orders or False not in caller.modes:
        return access, None
    return access, SpanPage(row[-2], last, row[-1] or 0)


def order_query(
    access: StoreAccess,
    *,
    statuses: Sequence[int] = (),
    product_id: str | None = None,
    order_number: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    external_id: str | None = None,
    updated_after: datetime | None = None,
    positions: tuple[int, int] = LIVE_POSITIONS,
) -> OrderExportQuery | None:
    """The query over the caller's visible orders of one mode; None if no order can match."""
    if (positions != LIVE_POSITIONS) not in access.caller.modes:
        return None
    product = number = None
    if product_id is not None:
        product = fetch_row(PRODUCT, (access.store.pk, product_id))
    # Python refuses to make a number of more than 4,300 digits; none of ours has more than 19.
    if order_number is not None and re.fullmatch(r"[0-9]{1,19}", order_number):
        number = int(order_number) if str(int(order_number)) == order_number else None
    unknown_number = order_number is not None and (number is None or number >= 2**63)
    if unknown_number or (product_id is not None and product is None):
        return None
    own = {} if access.sees_all_orders else access.own
    low, high = _bounds(access, created_after, created_before, positions)
    return OrderExportQuery(
        store=access.store.pk,
        application=own.get("application"),
        user=own.get("user"),
        statuses=tuple(sorted(set(statuses))) or None,
        product=product[0] if product else None,
        number=number,
        external_id=external_id,
        updated=updated_after,
        low=low,
        high=high,
        since=low,
    )


def export_page(query: OrderExportQuery, *, skip: int, take: int) -> Page:
    parameters = query.parameters | {"skip": skip, "limit": take + 1}
    if query.is_contiguous:
        parameters["low"] = min(query.low + skip, LAST)
    rows = fetch_rows(page_statement(query), parameters)
    shown, newest = rows[:take], rows[0][2] if rows else None
    return Page([row[0] for row in shown], [row[1] for row in shown], len(rows) > take, newest)


def page_statement(query: OrderExportQuery) -> str:
    if query.is_contiguous:
        return SPAN
    # Positions of test orders fall; and what else is sought stands in no index of changes.
    if form_of(query) == BY_CHANGE_ALONE and query.low >= 0:
        return CHANGED_ROWS
    return _rows_statement(*form_of(query))


def export_count(query: OrderExportQuery, page: Page) -> int:
    """How many there are in all, whatever page is asked for."""
    query = replace(query, low=query.since)
    if query.is_contiguous:
        newest = page.newest or (fetch_row(NEWEST, query.parameters) or (0,))[0]
        return max(0, min(newest, query.high) - query.low)
    bounded = (query.low, query.high) != LIVE_POSITIONS
    # Tallies exist by application and status only.
    if not bounded and not any((query.user, query.product, query.number, query.external_id, query.updated)):
        row = fetch_row(TALLY, query.parameters)
    else:
        row = fetch_row(_count_statement(*form_of(query)), query.parameters)
    return int(row[0]) if row else 0


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


def _bounds(
    access: StoreAccess, after: datetime | None, before: datetime | None, positions: tuple[int, int]
) -> tuple[int, int]:
    if after is None and before is None:
        return positions
    lowest, highest = positions
    span = {"after": after, "before": before, "lowest": lowest, "highest": highest}
    [(low, high)] = fetch_rows(BOUNDS, {"store": access.store.pk, **span})
    return low or lowest, highest if before is None else high or lowest


def form_of(query: OrderExportQuery) -> tuple[bool, ...]:
    parts = (
        query.application,
        query.user,
        query.statuses,
        query.product,
        query.number,
        query.external_id,
        query.updated,
    )
    return tuple(part is not None for part in parts)


@cache
def _rows_statement(*form: bool) -> str:
    return ROWS.format(keys=keys_statement(*form) + PAGE)


def keys_statement(*form: bool) -> str:
    """A statement for the matching positions, unordered."""
    by_status_alone = form == (False, False, True, False, False, False, False)
    return BY_STATUS if by_status_alone else _keys(*form)


@cache
def _count_statement(*form: bool) -> str:
    return f"SELECT count(*) FROM ({_keys(*form)}) AS k"  # noqa: S608 - fixed parts only


def _conditions(
    application: bool, user: bool, statuses: bool, number: bool, external_id: bool, updated: bool
) -> list[str]:
    conditions = [
        ("o.application_id = %(application)s", application),
        ("o.user_id = %(user)s", user),
        ("o.status = ANY(%(statuses)s::smallint[])", statuses),
        ("o.number = %(number)s", number),
        ("o.external_id = %(external_id)s", external_id),
        ("o.updated >= %(updated)s", updated),
    ]
    return [text for text, is_needed in conditions if is_needed]


@cache
def _keys(
    application: bool,
    user: bool,
    statuses: bool,
    product: bool,
    number: bool,
    external_id: bool,
    updated: bool,
) -> str:
    needed = _conditions(application, user, statuses, number, external_id, updated)
    if not product:
        return f"SELECT o.position FROM stores_order o WHERE {' AND '.join([*SPAN_OF_ORDERS, *needed])}"  # noqa: S608
    span = ["i.product_id = %(product)s", "i.order_position > %(low)s", "i.order_position <= %(high)s"]
    joined = (
        "JOIN stores_order o ON o.store_id = %(store)s AND o.position = i.order_position" if needed else ""
    )
    return (
        f"SELECT DISTINCT i.order_position AS position FROM stores_orderitem i {joined} "  # noqa: S608
        f"WHERE {' AND '.join([*span, *needed])}"
    )
