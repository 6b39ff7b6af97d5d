"""Requests as the console shows them: equal ones share a card, and are decided together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from django.utils import timezone

from stores.budgets.representations import gauge_of
from stores.budgets.selectors.standings import standings_with_orders
from stores.orders.approvals.models import ApprovalRequest
from stores.orders.approvals.notices import reason_in_words
from stores.orders.models import ApprovalState, Order, OrderItem
from stores.orders.representations import order_etag
from stores.orders.services.packing_slips import address_lines

ITEMS_SHOWN = 4


@dataclass(slots=True)
class Meter:
    """How much of a limit is used, and how much of it this order takes, in percent of the larger of both sums."""

    before: float
    requested: float
    limit: float


@dataclass(slots=True)
class Member:
    request: ApprovalRequest
    address: Sequence[str]
    version: str


@dataclass(slots=True)
class RequestCard:
    """Requests that differ in nothing but recipient and time; `items` are those of the first."""

    items: list[OrderItem]
    is_own: bool
    # The budgets that count the order, as they stand with it.
    budgets: list[dict[str, Any]]
    members: list[Member] = field(default_factory=list)

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
    def shown_items(self) -> list[OrderItem]:
        return self.items[:ITEMS_SHOWN]

    @property
    def more_items(self) -> int:
        return max(0, self.order.item_count - ITEMS_SHOWN)

    @property
    def pictured(self) -> OrderItem | None:
        return next((item for item in self.items if item.print_file), None)

    @property
    def hours_left(self) -> int:
        return max(0, int((self.first.expires - timezone.now()).total_seconds() // 3600))

    @property
    def reasons(self) -> list[tuple[str, Meter | None]]:
        """Each in words; with a meter, unless a gauge of the card draws its budget."""
        drawn = {str(gauge["standing"].budget.pk) for gauge in self.budgets} if self.is_pending else set()
        return [
            (reason_in_words(one), None if one.get("BudgetID") in drawn else _meter(one))
            for one in self.first.reasons
        ]


def request_cards(requests: Iterable[ApprovalRequest], *, viewer_id: UUID | None) -> list[RequestCard]:
    """In the order of the first of each; reads the items and budgets of all orders at once."""
    found = list(requests)
    items: dict[UUID, list[OrderItem]] = {one.pk: [] for one in found}
    for item in OrderItem.objects.filter(order__in=items).order_by("order", "position"):
        items[item.order_id].append(item)
    standings = standings_with_orders(items)
    cards: dict[Any, RequestCard] = {}
    for request in found:
        alike = _likeness(request, items[request.pk])
        gauges = [gauge_of(one) for one in standings.get(request.pk, [])]
        card = cards.setdefault(
            alike, RequestCard(items[request.pk], viewer_id in request.ordered_by, gauges)
        )
        order = request.order
        card.members.append(Member(request, address_lines(order.recipient), order_etag(order)))
    return list(cards.values())


def _likeness(request: ApprovalRequest, items: Sequence[OrderItem]) -> bytes:
    """Equal for requests that may be decided together. Decided ones stay alone."""
    order = request.order
    alone = str(order.pk) if order.approval != ApprovalState.PENDING else ""
    about = [
        alone,
        order.store_id,
        str(order.application_id),
        str(order.user_id),
        order.delivery_method_code,
        order.production_days,
        str(order.total),
        request.reasons,
        [
            (
                item.product_id,
                item.product_version,
                item.quantity,
                str(item.unit_price),
                item.template_data,
                item.eddm,
            )
            for item in items
        ],
    ]
    return orjson.dumps(about, option=orjson.OPT_SORT_KEYS)


def _meter(reason: dict[str, Any]) -> Meter:
    used = reason.get("Used", 0)
    requested = reason["Total"] if reason["Kind"] == "Total" else reason["Requested"]
    whole = max(used + requested, reason["Limit"]) or 1
    before, this, limit = (round(100 * part / whole, 2) for part in (used, requested, reason["Limit"]))
    return Meter(before, this, limit)
