"""Requests approval of an order, and records the decision or the end of the time for it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import pghistory
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.services.notifications import erase_texts
from applications.webhooks.event_types import EventType
from fulfillment.core.audit.personal_data import ERASED
from fulfillment.core.errors import Conflict, Forbidden
from stores.budgets.services.approvals import check_room
from stores.catalog.models import Store
from stores.orders.models import OWN_ORDER, ApprovalRequest, ApprovalState, Order, OrderStatus
from stores.orders.representations import dumps
from stores.orders.selectors.approvals import people_who_ordered, total_reasons, undecided_requests
from stores.orders.services.approval_notices import (
    decision_key,
    notify_approvers,
    notify_of_decision,
    reason_in_words,
)
from stores.orders.services.changes import (
    SYSTEM,
    Actor,
    StatusChange,
    close_approval_request,
    lock_order,
    record_change,
)

EXPIRED = "No approver decided in time."
EVENT_TYPES: dict[ApprovalState, str] = {
    ApprovalState.APPROVED: EventType.ORDER_APPROVED.value,
    ApprovalState.DENIED: EventType.ORDER_DENIED.value,
}


def request_approval(*, order: Order, budget_reasons: Sequence[dict[str, Any]] = ()) -> None:
    """Call it in the transaction that writes the order. Without a reason, nothing is requested.

    Test orders and orders of the demo store cost nothing and need no approval.
    """
    reasons = [*total_reasons(order.store, order.total), *budget_reasons]
    if not reasons or order.is_test or order.store.is_demo:
        return
    terms = request_terms(order.store, reasons, people_who_ordered(order), requested=order.created)
    request = ApprovalRequest(order=order, **terms)
    request.save(force_insert=True)
    order.approval = ApprovalState.PENDING
    # The history is the API's too.
    with translation.override(settings.LANGUAGE_CODE):
        note = f"Approval requested. {'. '.join(map(reason_in_words, request.reasons))}."
    record_change(
        StatusChange(order, SYSTEM, note[:1000], order.created),
        order.status,
        event_type=EventType.ORDER_APPROVAL_REQUESTED.value,
    )
    notify_approvers(request)


def request_terms(
    store: Store, reasons: Sequence[Mapping[str, Any]], people: Iterable[UUID], *, requested: datetime
) -> dict[str, Any]:
    """The fields that a request for an order and one for a batch share."""
    time_left = timedelta(hours=store.approval_hours)
    return {
        "reasons": orjson.loads(dumps(list(reasons))),
        "ordered_by": sorted(people),
        "requested": requested,
        "expires": requested + time_left,
        "reminder_due": requested + time_left / 2,
    }


def approve_order(*, order: Order, actor: Actor, note: str = "", if_match: Sequence[str] = ()) -> Order:
    """Raises Conflict if it was decided or has expired, or if the order exceeds a limit that was lowered since.

    Raises Forbidden for the people who ordered.
    """
    _refuse_own_order(order, actor)
    with transaction.atomic():
        locked = lock_order(order, if_match)
        if _is_open_else_expire(locked):
            check_room(order=locked, reasons=locked.approval_request.reasons)
            change = StatusChange(locked, actor, f"Approved. {note}".strip()[:1000])
            return _record_decision(change, ApprovalState.APPROVED, note)
    raise _already_decided(locked)


def deny_order(*, order: Order, actor: Actor, reason: str, if_match: Sequence[str] = ()) -> Order:
    """Denies the approval and rejects the order; raises as `approve_order` does."""
    _refuse_own_order(order, actor)
    with transaction.atomic():
        locked = lock_order(order, if_match)
        if _is_open_else_expire(locked):
            change = StatusChange(locked, actor, f"Approval denied. {reason}"[:1000])
            _record_decision(change, ApprovalState.DENIED, reason)
            return record_change(StatusChange(locked, actor, reason), OrderStatus.REJECTED)
    raise _already_decided(locked)


def expire_requests(*, now: datetime) -> int:
    """Rejects the orders of requests that are undecided at their end; called by the worker."""
    expired = undecided_requests().filter(expires__lte=now)
    return sum(_expire_request(order_id, now) for order_id in list(expired.values_list("pk", flat=True)))


def remind_approvers(*, now: datetime) -> int:
    return send_reminders(undecided_requests().select_related("order__store"), notify_approvers, now=now)


def send_reminders(undecided: QuerySet[Any], notify: Callable[..., int], *, now: datetime) -> int:
    """Once for each request, when half of its time is over."""
    count, due = 0, undecided.filter(reminder_due__lte=now, expires__gt=now)
    while True:
        with transaction.atomic():
            request = due.select_for_update(of=("self",), skip_locked=True).first()
            if request is None:
                return count
            request.reminder_due = None
            request.save(update_fields=["reminder_due"])
            count += notify(request, is_reminder=True)


def erase_approval_notes(*, order: Order) -> None:
    """Notes are free text and may name people; they are also in the notification of the decision."""
    ApprovalRequest.objects.filter(order=order).exclude(note="").update(note=ERASED)
    erase_texts(keys=[decision_key(order)])


def _refuse_own_order(order: Order, actor: Actor) -> None:
    """Refuses operators as well. The attempt is recorded in the audit log, outside of any other transaction."""
    request = ApprovalRequest.objects.filter(order=order).first()
    if request is None:
        raise Conflict(_("The order needs no approval."), code="approval_not_requested")
    if actor.user_id in {*request.ordered_by, *people_who_ordered(order)}:
        pghistory.create_event(request, label=OWN_ORDER)
        raise Forbidden(_("You placed this order, or own the application that did."), code="approver_ordered")


def _is_open_else_expire(order: Order) -> bool:
    """Whether it can be decided; a request whose time is over is closed here, before the worker comes to it."""
    if order.approval != ApprovalState.PENDING:
        return False
    if order.approval_request.expires <= timezone.now():
        _reject_expired(order)
        return False
    return True


def _record_decision(change: StatusChange, state: ApprovalState, note: str) -> Order:
    order, event_type = change.order, EVENT_TYPES[state]
    close_approval_request(order, state=state, note=note, decided_by=change.actor.user_id)
    notify_of_decision(order.approval_request)
    return record_change(change, order.status, event_type=event_type)


def _expire_request(order_id: UUID, now: datetime) -> bool:
    order = Order.objects.only("store").get(pk=order_id)
    with transaction.atomic():
        locked = lock_order(order)
        if locked.approval != ApprovalState.PENDING or locked.approval_request.expires > now:
            return False
        _reject_expired(locked)
        return True


def _reject_expired(order: Order) -> None:
    close_approval_request(order, state=ApprovalState.EXPIRED, note=EXPIRED)
    notify_of_decision(order.approval_request)
    record_change(StatusChange(order, SYSTEM, EXPIRED), OrderStatus.REJECTED)


def _already_decided(order: Order) -> Conflict:
    return Conflict(
        _("The approval of this order is %(approval)s and cannot be decided again.")
        % {"approval": order.approval},
        code="approval_decided",
        members={"State": order.approval},
    )
