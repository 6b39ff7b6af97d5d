"""The export view with test orders among the others, in the order in which all of them were placed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.db.replica import fetch_replicated
from stores.orders.models import LIVE_POSITIONS, TEST_POSITIONS
from stores.orders.selectors.access import StoreAccess
from stores.orders.selectors.export import BATCH, Page, export_count
from stores.orders.selectors.export_query import LAST, OrderExportQuery, filters_of, order_query
from stores.orders.selectors.export_statements import Filters, keys_statement

# Within each mode `created` rises with the position, so the first of both modes are the first of all.
ROWS = """
SELECT page.position, o.rendering, page.created FROM (
    SELECT s.position, s.created FROM (
        (SELECT position FROM ({live}) AS live ORDER BY position LIMIT %(skip)s::bigint + %(limit)s::bigint)
        UNION ALL
        (SELECT position FROM ({test}) AS test ORDER BY position LIMIT %(skip)s::bigint + %(limit)s::bigint)
    ) AS k JOIN stores_order s ON s.store_id = %(store)s AND s.position = k.position
    ORDER BY s.created, s.position OFFSET %(skip)s LIMIT %(limit)s
) page JOIN stores_order o ON o.store_id = %(store)s AND o.position = page.position
ORDER BY page.created, page.position
"""
UNTIL = """
SELECT position FROM stores_order
WHERE store_id = %(store)s AND position {sign} 0
  AND (created, position) <= (%(created)s::timestamptz, %(position)s::int)
ORDER BY created DESC, position DESC LIMIT 1
"""
PASSED = f"SELECT ({UNTIL.format(sign='>')}), ({UNTIL.format(sign='<')})"
NOTHING = Page([], [], has_more=False)


@dataclass(frozen=True, slots=True)
class ExportPlace:
    """A position in the export: after the last order of a page."""

    created: datetime
    position: int


@dataclass(frozen=True, slots=True)
class ExportWithTests:
    """One query for live orders and one for test orders; None if the caller sees none of them."""

    live: OrderExportQuery | None
    test: OrderExportQuery | None

    def after(self, place: ExportPlace | None) -> "ExportWithTests":
        one = self.live or self.test
        if place is None or one is None:
            return self
        named = {"store": one.store, "created": place.created, "position": place.position}
        live, test = fetch_row(PASSED, named) or (None, None)
        return ExportWithTests(_after(self.live, live), _after(self.test, test))


def query_with_tests(access: StoreAccess, **filters: Any) -> ExportWithTests:
    return ExportWithTests(
        order_query(access, **filters, positions=LIVE_POSITIONS),
        order_query(access, **filters, positions=TEST_POSITIONS),
    )


def page_with_tests(query: ExportWithTests, *, skip: int, take: int) -> Page:
    one = query.live or query.test
    if one is None:
        return NOTHING
    live, test = query.live or _empty(one), query.test or _empty(one)
    parameters = live.parameters | {
        "test_low": test.low,
        "test_high": test.high,
        "skip": skip,
        "limit": take + 1,
    }
    statement = _rows_statement(filters_of(live.simplified), filters_of(test), is_split=live.is_split)
    rows = fetch_replicated(one.replica_since, statement, parameters, suffices=lambda rows: True)
    shown = rows[:take]
    return Page(
        [row[0] for row in shown],
        [_marked(row[1], row[0]) for row in shown],
        len(rows) > take,
        created=[row[2] for row in shown],
    )


def count_with_tests(query: ExportWithTests) -> int:
    """The number of all matching orders, independent of the page."""
    return sum(export_count(one, NOTHING) for one in (query.live, query.test) if one is not None)


def rows_with_tests(query: ExportWithTests, *, skip: int, take: int | None) -> Iterator[str]:
    """As `export_rows`, for both modes."""
    left = LAST if take is None else take
    while left > 0:
        page = page_with_tests(query, skip=skip, take=min(BATCH, left))
        yield from page.renderings
        left -= len(page.renderings)
        if not page.has_more or not page.positions:
            return
        query, skip = query.after(ExportPlace(page.created[-1], page.positions[-1])), 0


def _marked(rendering: str, position: int) -> str:
    """Adds IsTest to a stored row: positions of test orders are negative."""
    return f'{rendering[:-1]},"IsTest":{"true" if position < 0 else "false"}}}'


def _after(query: OrderExportQuery | None, position: int | None) -> OrderExportQuery | None:
    return query if query is None or position is None else query.after(position)


def _empty(like: OrderExportQuery) -> OrderExportQuery:
    return replace(like, low=LAST, high=LAST, boundary=None)


@cache
def _rows_statement(live_filters: Filters, test_filters: Filters, *, is_split: bool) -> str:
    live = keys_statement(live_filters, is_split=is_split)
    test = (
        keys_statement(test_filters).replace("%(low)s", "%(test_low)s").replace("%(high)s", "%(test_high)s")
    )
    return ROWS.format(live=live, test=test)
