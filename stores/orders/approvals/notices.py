"""Notifies approvers of requests, and the people who ordered of decisions, by bell and mail."""

from typing import Any

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
    words = "still needs" if is_reminder else "needs"
    return notify(
        user_ids=approver_ids(order.store_id, request.ordered_by),
        kind=NotificationKind.APPROVAL_REQUESTED,
        key=f"approval:{order.pk}:{'reminder' if is_reminder else 'requested'}",
        title=f"Order {order} of {order.store} {words} approval",
        text=f"{'. '.join(map(reason_in_words, request.reasons))}. Without a decision it is rejected on "
        f"{request.expires:%d %b %Y, %H:%M} UTC.",
        path=reverse("admin:stores_approvalrequest_change", args=[order.pk]),
    )


def notify_of_decision(request: ApprovalRequest) -> int:
    """Notifies the user who ordered; for an application without a user, its owners."""
    order = request.order
    return notify(
        user_ids=[order.user_id] if order.user_id else request.ordered_by,
        kind=NotificationKind.APPROVAL_DECIDED,
        key=decision_key(order),
        title=f"Order {order} at {order.store} was {DECIDED[ApprovalState(order.approval)]}",
        text=request.note,
        path=reverse("portal:approval", args=[order.pk]),
    )


def reason_in_words(reason: dict[str, Any]) -> str:
    if reason["Kind"] == "Total":
        return f"The total {reason['Total']:,.2f} is above {reason['Limit']:,.2f}"
    style = ",.2f" if reason["Type"] == BudgetType.AMOUNT else ",.0f"
    left, limit, requested = (format(reason[name], style) for name in ("Remaining", "Limit", "Requested"))
    return f"The budget {reason['Name']} has {left} left of {limit}, and the order takes {requested}"
