"""All changes of an order after it was placed: transitions, cancellation, parcels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller
from applications.webhooks.event_types import EventType
from applications.webhooks.services.events import record_event
from fulfillment.core.db.locks import lock_until_commit
from fulfillment.core.errors import Conflict, Fault, Invalid, PreconditionFailed
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
from stores.orders.models.status import (
    ALLOWED_TRANSITIONS,
    CANCELLABLE_AT_ONCE,
    CANCELLABLE_ON_REQUEST,
    EVENT_TYPES,
    WITH_SHIPMENTS,
)
from stores.orders.representations import event_data, order_etag, render_export_row
from stores.orders.selectors.access import StoreAccess, actor_kind
from stores.orders.services.scenarios import resume_scenario
from stores.orders.services.tallies import change_status_tally, count_shipped_order

ORDER_LOCKS = 0x0DE5
MAX_SHIPMENTS = 200
# An order that changed so often is put on hold no more, the one change that can be undone: its history is read whole.
MAX_CHANGES = 500
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
    # Of a third party, alone or for the user.
    application_id: UUID | None = None


def actor_of(access: StoreAccess) -> Actor:
    return Actor(actor_kind(access), access.caller.user_id, access.caller.third_party_id)


@dataclass(frozen=True, slots=True)
class Parcel:
    carrier: str
    tracking_number: str
    tracking_url: str = ""
    item_keys: tuple[str, ...] = ()
    shipped: datetime | None = None


@dataclass(slots=True)
class StatusChange:
    """A change of a locked order."""

    order: Order
    actor: Actor
    note: str = ""
    happened_at: datetime | None = None
    shipments: list[Shipment] = field(default_factory=list)


class StatusNotAllowed(Conflict):
    """`shown` is the message for pages: statuses in words, without the numbers of the API."""

    code = "status_not_allowed"

    def __init__(self, status: OrderStatus, target: OrderStatus, allowed: Sequence[OrderStatus]) -> None:
        super().__init__(
            _not_allowed(status.label, target.label, _join_names(allowed)),
            members={"Status": int(status), "Allowed": [int(next_status) for next_status in allowed]},
        )
        self.shown = _not_allowed(
            status.shown, target.shown, ", ".join(next_status.shown for next_status in allowed)
        )


@transaction.atomic
def transition_order(
    *,
    order: Order,
    status: int,
    actor: Actor,
    note: str = "",
    parcels: Sequence[Parcel] = (),
    if_match: Sequence[str] = (),
    happened_at: datetime | None = None,
) -> Order:
    """Moves an order to a status that ALLOWED_TRANSITIONS allows; the current status only adds new parcels.

    Writes the row, its history, its sequence and its event in one transaction. `happened_at` is for an
    earlier change.
    """
    locked = lock_order(order, if_match)
    change = StatusChange(locked, actor, note, happened_at)
    if status not in OrderStatus.values:
        raise Invalid.at(
            "/Status",
            "status_unknown",
            _("Status: %(status)s is not one of %(allowed)s.")
            % {"status": status, "allowed": _join_names(OrderStatus)},
        )
    if parcels and status not in WITH_SHIPMENTS:
        raise Invalid.at(
            "/Shipments", "shipments_not_allowed", _("Shipments: send them only with the statuses 50 and 60.")
        )
    if status != locked.status:
        check_transition(locked, status)
    change.shipments = _add_parcels(locked, parcels)
    if status == locked.status and not change.shipments:
        return locked
    return record_change(change, status)


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


def check_match(order: Order, if_match: Sequence[str]) -> None:
    if if_match and "*" not in if_match and order_etag(order) not in if_match:
        raise PreconditionFailed(
            _("The order has changed since; read it again before you repeat the request.")
        )


def lock_orders(*, store_pks: Iterable[int]) -> None:
    """Locks until the transaction ends. Call it before locking or writing any order; stores are locked in one order."""
    for store_pk in sorted(set(store_pks)):
        lock_until_commit(ORDER_LOCKS, store_pk)


def lock_order(order: Order, if_match: Sequence[str]) -> Order:
    lock_orders(store_pks=[order.store_id])
    locked = (
        Order.objects.select_for_update(of=("self",), no_key=True).select_related("store").get(pk=order.pk)
    )
    check_match(locked, if_match)
    return locked


def _waits_for_cancellation(order: Order) -> bool:
    return order.cancellation == CancellationState.REQUESTED and order.status in CANCELLABLE_ON_REQUEST


def next_statuses(order: Order) -> set[int]:
    """By ALLOWED_TRANSITIONS; an order in production can be cancelled only after a cancellation request, and one of
    MAX_CHANGES cannot be put on hold.
    """
    allowed = set(ALLOWED_TRANSITIONS[order.status])
    if order.sequence >= MAX_CHANGES:
        allowed.discard(OrderStatus.ON_HOLD)
    if order.status == OrderStatus.IN_PRODUCTION and order.cancellation != CancellationState.REQUESTED:
        allowed.discard(OrderStatus.CANCELLED)
    return allowed


def check_transition(order: Order, status: int) -> None:
    allowed = next_statuses(order)
    if status not in allowed:
        raise StatusNotAllowed(
            OrderStatus(order.status), OrderStatus(status), [OrderStatus(code) for code in sorted(allowed)]
        )
    if status == OrderStatus.ACCEPTED and order.approval == ApprovalState.PENDING:
        raise Conflict(_("The order needs approval before it is accepted."), code="approval_pending")


def _add_parcels(order: Order, parcels: Sequence[Parcel]) -> list[Shipment]:
    """Adds parcels that are not recorded yet; recorded ones stay as they were first reported."""
    if not parcels:
        return []
    recorded = set(order.shipments.values_list("carrier", "tracking_number"))
    keys = set(order.items.values_list("item_key", flat=True))
    added: dict[tuple[str, str], Shipment] = {}
    for index, parcel in enumerate(parcels):
        if unknown := [key for key in parcel.item_keys if key not in keys]:
            message = f"ItemKeys: the order has no item {unknown[0]!r}."
            raise Invalid.at(f"/Shipments/{index}/ItemKeys", "item_key_unknown", message)
        identity = (parcel.carrier, parcel.tracking_number)
        if identity not in recorded and identity not in added:
            added[identity] = Shipment(
                order=order,
                carrier=parcel.carrier,
                tracking_number=parcel.tracking_number,
                tracking_url=parcel.tracking_url,
                item_keys=list(dict.fromkeys(parcel.item_keys)),
                shipped=parcel.shipped or timezone.now(),
            )
    if len(recorded) + len(added) > MAX_SHIPMENTS:
        fault = Fault(
            "/Shipments",
            "too_many_shipments",
            _("Shipments: at most %(max_shipments)s an order.") % {"max_shipments": MAX_SHIPMENTS},
        )
        raise Invalid(fault.message, code=fault.code, faults=[fault])
    return Shipment.objects.bulk_create(added.values())


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
        note = f"The order was {OrderStatus(status).words.lower()}."
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


def _not_allowed(name: str, target: str, allowed: str) -> str:
    return _("The order is %(name)s and cannot become %(target)s; allowed: %(allowed)s.") % {
        "name": name,
        "target": target,
        "allowed": allowed or _("nothing"),
    }


def _join_names(statuses: Any) -> str:
    return ", ".join(f"{int(status)} {status.label}" for status in statuses)
