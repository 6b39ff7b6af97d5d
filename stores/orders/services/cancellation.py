"""Cancels orders, and decides about requested cancellations."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from applications.webhooks.event_types import EventType
from fulfillment.core.errors import Conflict
from stores.orders.models import ApprovalState, CancellationState, Order, OrderStatus
from stores.orders.models.status import CANCELLABLE_AT_ONCE, CANCELLABLE_ON_REQUEST
from stores.orders.services.changes import Actor, StatusChange, lock_order, record_change
from stores.orders.services.scenarios import resume_scenario


@transaction.atomic
def cancel_order(
    *,
    order: Order,
    actor: Actor,
    reason: str = "",
    if_match: Sequence[str] = (),
    happened_at: datetime | None = None,
) -> Order:
    """Cancels at once within the hold window; later it requests the cancellation, which the store decides."""
    locked = lock_order(order, if_match)
    if locked.status == OrderStatus.CANCELLED or _waits_for_cancellation(locked):
        return locked
    if locked.status not in CANCELLABLE_ON_REQUEST:
        name = OrderStatus(locked.status).label
        raise Conflict(
            _("The order is %(name)s: too late to cancel.") % {"name": name}, code="order_not_cancellable"
        )
    if locked.cancellation == CancellationState.REFUSED:
        raise Conflict(_("The store has refused to cancel this order."), code="cancellation_refused")
    now = happened_at or timezone.now()
    locked.cancellation_asked, locked.cancellation_reason = now, reason
    change = StatusChange(locked, actor, reason, happened_at)
    is_pending = locked.approval == ApprovalState.PENDING
    if locked.status in CANCELLABLE_AT_ONCE and (is_pending or now < locked.cancellable_until):
        return record_change(change, OrderStatus.CANCELLED)
    locked.cancellation = CancellationState.REQUESTED
    resume_scenario(order=locked)
    return record_change(change, locked.status, event_type=EventType.ORDER_CANCELLATION_REQUESTED.value)


def can_be_cancelled(order: Order) -> bool:
    """Whether a cancellation can be requested and was not yet."""
    return order.status in CANCELLABLE_ON_REQUEST and order.cancellation == CancellationState.NONE


@transaction.atomic
def refuse_cancellation(*, order: Order, actor: Actor, note: str = "", if_match: Sequence[str] = ()) -> Order:
    """Refuses a requested cancellation; the store accepts it by the transition to Cancelled."""
    locked = lock_order(order, if_match)
    if locked.cancellation == CancellationState.REFUSED:
        return locked
    if not _waits_for_cancellation(locked):
        raise Conflict(_("No cancellation of this order was requested."), code="cancellation_not_requested")
    locked.cancellation, locked.cancellation_note = CancellationState.REFUSED, note
    text = f"Cancellation refused. {note}".strip()
    return record_change(StatusChange(locked, actor, text[:1000]), locked.status)


def _waits_for_cancellation(order: Order) -> bool:
    return order.cancellation == CancellationState.REQUESTED and order.status in CANCELLABLE_ON_REQUEST
