"""Statements that find the positions of a store's orders, one for each combination of filters."""

from functools import cache
from typing import NamedTuple

from stores.orders.models.change_point import CHANGE_EPOCH, CHANGE_SCALE, STORE_WIDTH, change_point

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
# Orders above `low`, up to `edge`, that were changed at `updated` or later, along the index of changes. A point of it
# may differ from the moment by its last digit, hence the second condition. Never call it with `edge` below `low`: a
# box sorts its corners. The planner does not know how few points a box has: with IS TRUE it takes no other index.
CHANGED_SINCE = f"""
o.position > 0 AND {change_point("o.")} <@ box(
    point(%(store)s * {STORE_WIDTH} + %(low)s + 1,
          date_part('epoch', %(updated)s::timestamptz - {CHANGE_EPOCH}) / {CHANGE_SCALE}),
    point(%(store)s * {STORE_WIDTH} + %(edge)s, 100))
AND (o.updated >= %(updated)s::timestamptz) IS TRUE
"""
# The distance is that of the positions: the moments of two points are less than a hundredth apart.
NEAREST = f"{change_point('o.')} <-> point(%(store)s * {STORE_WIDTH} + %(low)s, 0)"
# A sub-select and no join: the planner would look up every order of the product.
OF_PRODUCT = """
(SELECT true FROM stores_orderitem i WHERE i.product_id = %(product)s AND i.order_position = o.position LIMIT 1)
"""
CHANGED = """
SELECT either.position FROM (
    (SELECT o.position FROM stores_order o WHERE {conditions}
     ORDER BY {nearest} LIMIT %(skip)s::bigint + %(limit)s::bigint)
    UNION ALL
    (SELECT newer.position FROM ({newer}) newer
     ORDER BY newer.position LIMIT %(skip)s::bigint + %(limit)s::bigint)
) either
"""


class Filters(NamedTuple):
    """Which filters a query has."""

    application: bool
    user: bool
    statuses: bool
    product: bool
    number: bool
    external_id: bool
    updated: bool


@cache
def rows_statement(filters: Filters, *, is_split: bool) -> str:
    """The rows of a page."""
    return ROWS.format(keys=keys_statement(filters, is_split=is_split) + PAGE)


@cache
def keys_statement(filters: Filters, *, is_split: bool = False) -> str:
    """The matching positions, unordered, at least those of the page.

    With `is_split` those up to `edge` are found by their change; all above it were placed at `updated` or later.
    """
    if is_split:
        newer = keys_statement(filters._replace(updated=False)).replace("%(low)s", "%(edge)s")
        return CHANGED.format(conditions=_changed_conditions(filters), nearest=NEAREST, newer=newer)
    return BY_STATUS if filters == BY_STATUS_ALONE else _keys(filters)


@cache
def count_statement(filters: Filters) -> str:
    return f"SELECT count(*) FROM ({_keys(filters)}) AS k"  # noqa: S608 - fixed parts only


@cache
def count_changed_statement(filters: Filters) -> str:
    """The number of orders up to `edge` that match by their change."""
    return f"SELECT count(*) FROM stores_order o WHERE {_changed_conditions(filters)}"  # noqa: S608 - fixed parts only


BY_STATUS_ALONE = Filters(False, False, True, False, False, False, False)


def _changed_conditions(filters: Filters) -> str:
    others = _conditions(filters._replace(updated=False))
    needed = [CHANGED_SINCE, *(f"({condition}) IS TRUE" for condition in others)]
    return " AND ".join([*needed, OF_PRODUCT] if filters.product else needed)


def _conditions(filters: Filters) -> list[str]:
    conditions = [
        ("o.application_id = %(application)s", filters.application),
        ("o.user_id = %(user)s", filters.user),
        ("o.status = ANY(%(statuses)s::smallint[])", filters.statuses),
        ("o.number = %(number)s", filters.number),
        ("o.external_id = %(external_id)s", filters.external_id),
        ("o.updated >= %(updated)s", filters.updated),
    ]
    return [text for text, is_needed in conditions if is_needed]


def _keys(filters: Filters) -> str:
    needed = _conditions(filters)
    if not filters.product:
        return f"SELECT o.position FROM stores_order o WHERE {' AND '.join([*SPAN_OF_ORDERS, *needed])}"  # noqa: S608
    span = ["i.product_id = %(product)s", "i.order_position > %(low)s", "i.order_position <= %(high)s"]
    joined = (
        "JOIN stores_order o ON o.store_id = %(store)s AND o.position = i.order_position" if needed else ""
    )
    return (
        f"SELECT DISTINCT i.order_position AS position FROM stores_orderitem i {joined} "  # noqa: S608
        f"WHERE {' AND '.join([*span, *needed])}"
    )
