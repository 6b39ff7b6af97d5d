"""Records a change of a locked order: its row, history, event and counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller
from applications.webhooks.services.events import record_event
from fulfillment.core.db.locks import lock_until_commit
from fulfillment.core.errors import PreconditionFailed
from fulfillment.core.plugins import offered_values
from stores.budgets.services.claims import release_order
from stores.orders.models import (
    ActorKind,
    ApprovalRequest,
    ApprovalState,
    CancellationState,
    Order,
    OrderHistory,
    OrderStatus,
    Shipment,
)
from stores.orders.models.status import EVENT_TYPES, WITH_SHIPMENTS
from stores.orders.representations import event_data, order_etag, render_export_row
from stores.orders.selectors.access import StoreAccess, actor_kind
from stores.orders.services.tallies import change_status_tally, count_shipped_order

ORDER_LOCKS = 0x0DE5
# Budgets get back what an order took.
GIVES_BACK = frozenset({OrderStatus.CANCELLED, OrderStatus.REJECTED})
CHANGED_FIELDS = (
    "status",
    "sequence",
    "updated",
    "tracking_numbers",
    "rendering",
    "cancellation",
    "cancellation_asked",
    "cancellation_reason",
    "cancellation_note",
    "approval",
)


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or system that changes an order, as the order's history records it."""

    kind: ActorKind
    user_id: UUID | None = None
    # The application of a third party, alone or for the user.
    application_id: UUID | None = None


SYSTEM = Actor(ActorKind.SYSTEM)


def actor_of(access: StoreAccess) -> Actor:
    return Actor(actor_kind(access), access.caller.user_id, access.caller.third_party_id)


@dataclass(slots=True)
class StatusChange:
    """A change of a locked order."""

    order: Order
    actor: Actor
    note: str = ""
    happened_at: datetime | None = None
    shipments: list[Shipment] = field(default_factory=list)


def check_match(order: Order, if_match: Sequence[str]) -> None:
    if if_match and "*" not in if_match and order_etag(order) not in if_match:
        raise PreconditionFailed(
            _("The order has changed since; read it again before you repeat the request.")
        )


def lock_orders(*, store_pks: Iterable[int]) -> None:
    """Locks until the transaction ends. Call it before locking or writing any order; stores are locked in one order."""
    for store_pk in sorted(set(store_pks)):
        lock_until_commit(ORDER_LOCKS, store_pk)


def lock_order(order: Order, if_match: Sequence[str] = ()) -> Order:
    lock_orders(store_pks=[order.store_id])
    locked = (
        Order.objects.select_for_update(of=("self",), no_key=True).select_related("store").get(pk=order.pk)
    )
    check_match(locked, if_match)
    return locked


def _settle_cancellation(order: Order, status: int) -> None:
    """A request to cancel is accepted or refused by the new status too."""
    waits = order.cancellation == CancellationState.REQUESTED
    # A store that has refused may still cancel on its own; the recorded refusal then stays.
    at_once = order.cancellation_asked and order.cancellation != CancellationState.REFUSED
    if (status == OrderStatus.CANCELLED and at_once) or (status == OrderStatus.REJECTED and waits):
        order.cancellation = CancellationState.ACCEPTED
    elif status in WITH_SHIPMENTS and waits:
        # A shipped order cannot be cancelled any more, so the request counts as refused.
        order.cancellation = CancellationState.REFUSED


def record_change(change: StatusChange, status: int, *, event_type: str | None = None) -> Order:
    """Writes a change of a locked order with its history and event; the caller has checked it."""
    order, previous = change.order, change.order.status
    _settle_cancellation(order, status)
    order.status = status
    order.sequence += 1
    order.updated = max(change.happened_at or timezone.now(), order.updated)
    if order.approval == ApprovalState.PENDING and status in (OrderStatus.CANCELLED, OrderStatus.REJECTED):
        is_cancelled = status == OrderStatus.CANCELLED
        note = "The order was cancelled." if is_cancelled else "The order was rejected."
        close_approval_request(order, state=ApprovalState.EXPIRED, note=note)
    order.tracking_numbers = [*order.tracking_numbers, *(s.tracking_number for s in change.shipments)]
    order.rendering = render_export_row(order, order.store.external_id)
    order.save(update_fields=CHANGED_FIELDS)
    if status != previous:
        change_status_tally(order=order, status=previous, by=-1)
        change_status_tally(order=order, status=status, by=1)
        if status == OrderStatus.SHIPPED:
            count_shipped_order(order, shipped_at=order.updated)
    append_history(order, previous_status=previous, actor=change.actor, note=change.note)
    record_order_event(order, event_type or EVENT_TYPES[status], previous_status=previous)
    if status != previous:
        notify_apps_of_status(order)
        if status in GIVES_BACK:
            application_id = order.application_id if change.actor.kind == ActorKind.APPLICATION else None
            caller = Caller(user_id=change.actor.user_id, application_id=application_id)
            release_order(order=order, moment=order.updated, caller=caller)
    return order


def close_approval_request(
    order: Order, *, state: ApprovalState, note: str, decided_by: UUID | None = None
) -> None:
    """Call it with the order locked, before `record_change`, which saves the order."""
    order.approval = state
    request: ApprovalRequest = order.approval_request
    request.decided, request.decided_by_id, request.note = timezone.now(), decided_by, note
    request.reminder_due = None
    request.save(update_fields=["decided", "decided_by", "note", "reminder_due"])


def append_history(order: Order, *, previous_status: int | None, actor: Actor, note: str = "") -> None:
    OrderHistory.objects.create(
        order=order,
        sequence=order.sequence,
        previous_status=previous_status,
        status=order.status,
        timestamp=order.updated,
        actor_kind=actor.kind,
        actor_id=actor.user_id,
        note=note,
    )


def notify_apps_of_status(order: Order) -> None:
    """In the transaction of the change, with the order locked: `status_changed` of each app's `order_status`."""
    for status_changed in offered_values("order_status", "status_changed"):
        status_changed(order=order)


def record_order_event(order: Order, event_type: str, *, previous_status: int | None) -> None:
    """Records an event for the application that placed the order; orders placed on pages have none."""
    if order.application_id is None:
        return
    store_id = order.store.external_id
    shipments: Any = order.shipments.all() if order.tracking_numbers else ()
    record_event(
        application_id=order.application_id,
        store_id=store_id,
        type=event_type,
        timestamp=order.updated,
        user_id=order.user_id,
        data=event_data(order, store_id, previous_status=previous_status, shipments=shipments),
    )
