"""Notifies approvers of requests, and the people who ordered of decisions, by bell and mail."""

from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.urls import reverse
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.models import NotificationKind
from accounts.services.notifications import Words, notify, resolve_text
from stores.catalog.models import BudgetType
from stores.orders.models import ApprovalRequest, ApprovalState, Order
from stores.orders.selectors.approvals import Ordered, approver_ids, people_who_ordered

DECIDED = {
    ApprovalState.APPROVED: gettext_noop("%(subject)s was approved"),
    ApprovalState.DENIED: gettext_noop("%(subject)s was denied"),
    ApprovalState.EXPIRED: gettext_noop("%(subject)s was not decided in time"),
}


def decision_key(order: Order) -> str:
    return f"approval:{order.pk}:decided"


def notify_approvers(request: ApprovalRequest, *, is_reminder: bool = False) -> int:
    """The link leads to the page on which an approver decides."""
    order = request.order
    return send_to_approvers(
        request,
        subject=lambda: _("Order %(order)s of %(store)s") % {"order": order, "store": order.store},
        store_id=order.store_id,
        key=f"approval:{order.pk}:{'reminder' if is_reminder else 'requested'}",
        path=reverse("admin:stores_approvalrequest_change", args=[order.pk]),
        outcome=gettext_noop("rejected"),
        is_reminder=is_reminder,
    )


def notify_of_decision(request: ApprovalRequest) -> int:
    order = request.order
    return send_decision(
        request,
        subject=lambda: _("Order %(order)s at %(store)s") % {"order": order, "store": order.store},
        state=ApprovalState(order.approval),
        by=order,
        key=decision_key(order),
        path=reverse("portal:approval", args=[order.pk]),
    )


class Requested(Protocol):
    """A request for approval: of an order, or of a batch."""

    reasons: Any
    ordered_by: list[UUID]
    expires: datetime
    note: str


def send_to_approvers(
    request: Requested, *, subject: Words, store_id: int, key: str, path: str, outcome: str, is_reminder: bool
) -> int:
    """`outcome` is what becomes of the subject without a decision."""
    title = (
        gettext_noop("%(subject)s still needs approval")
        if is_reminder
        else gettext_noop("%(subject)s needs approval")
    )
    return notify(
        user_ids=approver_ids(store_id, request.ordered_by),
        kind=NotificationKind.APPROVAL_REQUESTED,
        key=key,
        title=lambda: _(title) % {"subject": resolve_text(subject)},
        text=lambda: (
            _("%(reasons)s. Without a decision it is %(outcome)s on %(expires)s UTC.")
            % {
                "reasons": ". ".join(map(reason_in_words, request.reasons)),
                "outcome": _(outcome),
                "expires": date_format(request.expires, "DATETIME_FORMAT"),
            }
        ),
        path=path,
    )


def send_decision(
    request: Requested, *, subject: Words, state: ApprovalState, by: Ordered, key: str, path: str
) -> int:
    """Notifies the user who ordered; for an application without a user, its present owners."""
    return notify(
        user_ids=[by.user_id] if by.user_id else sorted(people_who_ordered(by)),
        kind=NotificationKind.APPROVAL_DECIDED,
        key=key,
        title=lambda: _(DECIDED[state]) % {"subject": resolve_text(subject)},
        text=request.note,
        path=path,
    )


def reason_in_words(reason: dict[str, Any]) -> str:
    if reason["Kind"] == "Total":
        total, limit = (_format_number(reason[name], 2) for name in ("Total", "Limit"))
        return _("The total %(total)s is above %(limit)s") % {"total": total, "limit": limit}
    places = 2 if reason["Type"] == BudgetType.AMOUNT else 0
    remaining, limit, requested = (
        _format_number(reason[name], places) for name in ("Remaining", "Limit", "Requested")
    )
    return _("The budget %(name)s has %(left)s left of %(limit)s, and the order takes %(requested)s") % {
        "name": reason["Name"],
        "left": remaining,
        "limit": limit,
        "requested": requested,
    }


def _format_number(value: float, places: int) -> str:
    return number_format(round(value, places), places, force_grouping=True)
