"""The filters of the export view as one query, whose span of time is a span of positions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from fulfillment.core.db.prepared import fetch_row, fetch_rows
from stores.orders.models import LIVE_POSITIONS
from stores.orders.selectors.access import StoreAccess
from stores.orders.selectors.export_statements import Filters

LAST = LIVE_POSITIONS[1]
# Within a store `created` rises with `position`, so a span of time is a span of positions. Test orders have negative
# positions, which only stores.orders.selectors.export_with_tests reads.
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
PLACED_BEFORE = """
SELECT position FROM stores_order WHERE store_id = %(store)s AND created < %(moment)s::timestamptz AND position > 0
ORDER BY created DESC, position DESC LIMIT 1
"""
PRODUCT = "SELECT id FROM stores_product WHERE store_id = %s AND external_id = %s"


@dataclass(frozen=True, slots=True)
class OrderExportQuery:
    """The filters of the export view; positions above `low`, up to and including `high`.

    `boundary` is the last position placed before `updated`: all above it match by their own date. It is None where
    there is no such filter, and where the index of changes is of no use.
    """

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
    replica_since: float | None = None
    boundary: int | None = None

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
            "edge": self.edge,
        }

    @property
    def edge(self) -> int:
        """The last position that may match only by a change."""
        return self.low if self.boundary is None else min(self.boundary, self.high)

    @property
    def is_split(self) -> bool:
        """Whether older orders are to be found by their change, and newer ones by their position."""
        return self.low < self.edge

    @property
    def simplified(self) -> "OrderExportQuery":
        """Without the filter `updated` where every order of the range fulfils it."""
        is_fulfilled = self.boundary is not None and not self.is_split
        return replace(self, updated=None, boundary=None) if is_fulfilled else self

    @property
    def is_contiguous(self) -> bool:
        """Whether only a range of positions is requested, which has no gaps for live orders."""
        return self.low >= 0 and not any(filters_of(self))

    def after(self, position: int) -> "OrderExportQuery":
        return replace(self, low=max(self.low, position))


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
    from_replica: bool = True,
) -> OrderExportQuery | None:
    """The query over the caller's visible orders of one mode; None if no order can match.

    Access, product and bounds come from the primary. With bounds of a replica that lags, a page of the primary would
    begin too early; the other way round it is only shorter.
    """
    if (positions != LIVE_POSITIONS) not in access.caller.modes:
        return None
    product = None if product_id is None else fetch_row(PRODUCT, (access.store.pk, product_id))
    number = None if order_number is None else _parsed_number(order_number)
    if (order_number is not None and number is None) or (product_id is not None and product is None):
        return None
    own = {} if access.sees_all_orders else access.own
    low, high = _bounds(access, created_after, created_before, positions)
    boundary = None
    if updated_after is not None and number is None and external_id is None and positions == LIVE_POSITIONS:
        [boundary] = fetch_row(PLACED_BEFORE, {"store": access.store.pk, "moment": updated_after}) or (0,)
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
        replica_since=access.caller.replica_since if from_replica else None,
        boundary=boundary,
    )


def _parsed_number(text: str) -> int | None:
    """None for a text that is no order number, such as one with a leading zero."""
    # Checked before `int`, which refuses more than 4,300 digits.
    if not re.fullmatch(r"[0-9]{1,19}", text) or str(int(text)) != text:
        return None
    return int(text) if int(text) < 2**63 else None


def _bounds(
    access: StoreAccess, after: datetime | None, before: datetime | None, positions: tuple[int, int]
) -> tuple[int, int]:
    if after is None and before is None:
        return positions
    lowest, highest = positions
    span = {"after": after, "before": before, "lowest": lowest, "highest": highest}
    [(low, high)] = fetch_rows(BOUNDS, {"store": access.store.pk, **span})
    return low or lowest, highest if before is None else high or lowest


def filters_of(query: OrderExportQuery) -> Filters:
    parts = (
        query.application,
        query.user,
        query.statuses,
        query.product,
        query.number,
        query.external_id,
        query.updated,
    )
    return Filters(*(part is not None for part in parts))
