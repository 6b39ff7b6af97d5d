"""Moves orders from status to status, and records their parcels."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from fulfillment.core.errors import Conflict, Invalid
from stores.orders.models import ApprovalState, CancellationState, Order, OrderStatus, Shipment
from stores.orders.models.status import ALLOWED_TRANSITIONS, WITH_SHIPMENTS
from stores.orders.services.changes import Actor, StatusChange, lock_order, record_change

MAX_SHIPMENTS = 200
# An order that changed so often is put on hold no more, the one change that can be undone: its history is read whole.
MAX_CHANGES = 500


@dataclass(frozen=True, slots=True)
class Parcel:
    carrier: str
    tracking_number: str
    tracking_url: str = ""
    item_keys: tuple[str, ...] = ()
    shipped: datetime | None = None


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
    if status == OrderStatus.ACCEPTED and order.recipient_erased:
        # The erasure has deleted the print files and the address.
        raise Conflict(
            _("The recipient of this order was erased: cancel or reject the order."), code="recipient_erased"
        )


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
        raise Invalid.at(
            "/Shipments",
            "too_many_shipments",
            _("Shipments: at most %(max_shipments)s an order.") % {"max_shipments": MAX_SHIPMENTS},
        )
    return Shipment.objects.bulk_create(added.values())


def _not_allowed(name: str, target: str, allowed: str) -> str:
    return _("The order is %(name)s and cannot become %(target)s; allowed: %(allowed)s.") % {
        "name": name,
        "target": target,
        "allowed": allowed or _("nothing"),
    }


def _join_names(statuses: Any) -> str:
    return ", ".join(f"{int(status)} {status.label}" for status in statuses)
