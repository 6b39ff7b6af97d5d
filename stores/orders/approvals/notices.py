"""Notifies approvers of requests, and the people who ordered of decisions, by bell and mail."""

from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.urls import reverse

from accounts.models import NotificationKind
from accounts.services.notifications import notify
from stores.catalog.models import BudgetType
from stores.orders.approvals.models import ApprovalRequest
from stores.orders.approvals.selectors import approver_ids
from stores.orders.models import ApprovalState, Order

DECIDED = {
    ApprovalState.APPROVED: "approved",
    ApprovalState.DENIED: "denied",
    ApprovalState.EXPIRED: "not decided in time",
}


def decision_key(order: Order) -> str:
    return f"approval:{order.pk}:decided"


def notify_approvers(request: ApprovalRequest, *, is_reminder: bool = False) -> int:
    """The link leads to the page on which an approver decides."""
    order = request.order
    return tell_approvers(
        request,
        what=f"Order {order} of {order.store}",
        store_id=order.store_id,
        key=f"approval:{order.pk}:{'reminder' if is_reminder else 'requested'}",
        path=reverse("admin:stores_approvalrequest_change", args=[order.pk]),
        outcome="rejected",
        is_reminder=is_reminder,
    )


def notify_of_decision(request: ApprovalRequest) -> int:
    order = request.order
    return tell_of_decision(
        request,
        what=f"Order {order} at {order.store}",
        state=ApprovalState(order.approval),
        user_id=order.user_id,
        key=decision_key(order),
        path=reverse("portal:approval", args=[order.pk]),
    )


class Requested(Protocol):
    """A request for approval: of an order, or of a batch."""

    reasons: Any
    ordered_by: list[UUID]
    expires: datetime
    note: str


def tell_approvers(
    request: Requested, *, what: str, store_id: int, key: str, path: str, outcome: str, is_reminder: bool
) -> int:
    """`outcome` is what becomes of it without a decision."""
    return notify(
        user_ids=approver_ids(store_id, request.ordered_by),
        kind=NotificationKind.APPROVAL_REQUESTED,
        key=key,
        title=f"{what} {'still needs' if is_reminder else 'needs'} approval",
        text=f"{'. '.join(map(reason_in_words, request.reasons))}. Without a decision it is {outcome} on "
        f"{request.expires:%d %b %Y, %H:%M} UTC.",
        path=path,
    )


def tell_of_decision(
    request: Requested, *, what: str, state: ApprovalState, user_id: UUID | None, key: str, path: str
) -> int:
    """Notifies the user who ordered; for an application without a user, its owners."""
    return notify(
        user_ids=[user_id] if user_id else request.ordered_by,
        kind=NotificationKind.APPROVAL_DECIDED,
        key=key,
        title=f"{what} was {DECIDED[state]}",
        text=request.note,
        path=path,
    )


def reason_in_words(reason: dict[str, Any]) -> str:
    if reason["Kind"] == "Total":
        return f"The total {reason['Total']:,.2f} is above {reason['Limit']:,.2f}"
    style = ",.2f" if reason["Type"] == BudgetType.AMOUNT else ",.0f"
    left, limit, requested = (format(reason[name], style) for name in ("Remaining", "Limit", "Requested"))
    return f"The budget {reason['Name']} has {left} left of {limit}, and the order takes {requested}"
