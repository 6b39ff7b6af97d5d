"""Requests as the console shows them: equal ones share a card, and are decided together."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from django.utils import timezone

from stores.budgets.representations import gauge_of
from stores.budgets.selectors.standings import standings_with_orders
from stores.orders.models import ApprovalRequest, ApprovalState, Order, OrderItem
from stores.orders.representations import order_etag
from stores.orders.selectors.approvals import item_digests
from stores.orders.services.approval_notices import reason_in_words
from stores.orders.services.packing_slips import address_lines

ITEMS_SHOWN = 4


@dataclass(slots=True)
class Meter:
    """How much of a limit is used, and how much of it this order takes, in percent of the larger of both sums."""

    before: float
    requested: float
    limit: float


@dataclass(slots=True)
class RequestRow:
    request: ApprovalRequest
    address: Sequence[str]
    version: str


@dataclass(slots=True)
class RequestCard:
    """Requests that differ in nothing but recipient and time."""

    is_own: bool
    # The budgets that count the order, as they stand with it.
    budgets: list[dict[str, Any]]
    # The first items of the first request, and the first with a print file.
    shown_items: list[OrderItem] = field(default_factory=list)
    pictured: OrderItem | None = None
    members: list[RequestRow] = field(default_factory=list)

    @property
    def first(self) -> ApprovalRequest:
        return self.members[0].request

    @property
    def order(self) -> Order:
        return self.first.order

    @property
    def state(self) -> str:
        return str(ApprovalState(self.order.approval).label)

    @property
    def is_pending(self) -> bool:
        return self.order.approval == ApprovalState.PENDING

    @property
    def more_items(self) -> int:
        return max(0, self.order.item_count - ITEMS_SHOWN)

    @property
    def hours_left(self) -> int:
        return max(0, int((self.first.expires - timezone.now()).total_seconds() // 3600))

    @property
    def reasons(self) -> list[tuple[str, Meter | None]]:
        """Each in words; with a meter, unless a gauge of the card draws its budget."""
        drawn = {str(gauge["standing"].budget.pk) for gauge in self.budgets} if self.is_pending else set()
        return [
            (reason_in_words(reason), None if reason.get("BudgetID") in drawn else _make_meter(reason))
            for reason in self.first.reasons
        ]


def request_cards(requests: Iterable[ApprovalRequest], *, viewer_id: UUID | None) -> list[RequestCard]:
    """Requests in the order of the first of each; reads the items and budgets of all orders at once."""
    listed = list(requests)
    likenesses = _find_likenesses(listed)
    standings = standings_with_orders([request.pk for request in listed])
    cards: dict[Any, RequestCard] = {}
    for request, alike in zip(listed, likenesses, strict=True):
        gauges = [gauge_of(standing) for standing in standings.get(request.pk, [])]
        card = cards.setdefault(alike, RequestCard(viewer_id in request.ordered_by, gauges))
        order = request.order
        card.members.append(RequestRow(request, address_lines(order.recipient), order_etag(order)))
    _read_items(cards.values())
    return list(cards.values())


def _read_items(cards: Collection[RequestCard]) -> None:
    by_order = {card.first.pk: card for card in cards}
    items = OrderItem.objects.filter(order__in=by_order).order_by("order_id", "position")
    items = items.defer(*OrderItem.LARGE)
    for item in items.filter(position__lt=ITEMS_SHOWN):
        by_order[item.order_id].shown_items.append(item)
    for item in items.exclude(print_file="").distinct("order_id"):
        by_order[item.order_id].pictured = item


def _find_likenesses(requests: Sequence[ApprovalRequest]) -> list[tuple[Any, ...]]:
    """Equal for requests that may be decided together. Items are compared only of orders that else are alike."""
    rough = [_rough_likeness(request) for request in requests]
    groups = Counter(rough)
    keys = [request.pk for request, alike in zip(requests, rough, strict=True) if groups[alike] > 1]
    digests = item_digests(keys)
    return [(*alike, digests.get(request.pk)) for request, alike in zip(requests, rough, strict=True)]


def _rough_likeness(request: ApprovalRequest) -> tuple[Any, ...]:
    """Decided requests stay alone."""
    order = request.order
    return (
        order.pk if order.approval != ApprovalState.PENDING else None,
        order.store_id,
        order.application_id,
        order.user_id,
        order.delivery_method_code,
        order.production_days,
        order.total,
        orjson.dumps(request.reasons, option=orjson.OPT_SORT_KEYS),
    )


def _make_meter(reason: dict[str, Any]) -> Meter:
    used = reason.get("Used", 0)
    requested = reason["Total"] if reason["Kind"] == "Total" else reason["Requested"]
    maximum = max(used + requested, reason["Limit"]) or 1
    before, this, limit = (round(100 * part / maximum, 2) for part in (used, requested, reason["Limit"]))
    return Meter(before, this, limit)
