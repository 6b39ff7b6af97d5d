"""Advances orders to the progress of their jobs, by allowed transitions only."""

from collections.abc import Sequence

from fulfillment.core.errors import DomainError
from production.jobs.models import RANK, Job, JobState
from production.jobs.services.recording import SYSTEM
from stores.orders.models import Order, OrderStatus
from stores.orders.models.status import WITH_SHIPMENTS
from stores.orders.services.transitions import Parcel, transition_order

S = OrderStatus


def follow_jobs(*, order: Order, parcels: Sequence[Parcel] = (), note: str = "") -> str:
    """Advances the locked order; returns why it could not, or ""."""
    target = _target(order)
    try:
        if target is not None and order.status == S.ACCEPTED:
            order = transition_order(order=order, status=S.IN_PRODUCTION, actor=SYSTEM, note=note)
        if target in WITH_SHIPMENTS and order.status in (S.IN_PRODUCTION, S.PARTIALLY_SHIPPED):
            # If the order already has the status, only parcels are added.
            transition_order(order=order, status=target, actor=SYSTEM, note=note, parcels=parcels)
        elif parcels and order.status in WITH_SHIPMENTS:
            transition_order(order=order, status=order.status, actor=SYSTEM, note=note, parcels=parcels)
        elif target is not None and order.status in (S.RECEIVED, S.ON_HOLD, S.CANCELLED, S.REJECTED):
            return f"The order is {S(order.status).words}; its status does not change."
    except DomainError as error:
        return error.message
    return ""


def _target(order: Order) -> OrderStatus | None:
    states = list(Job.objects.filter(order=order).values_list("state", flat=True))
    shipped = states.count(JobState.SHIPPED)
    if shipped and shipped == order.item_count - states.count(JobState.CANCELLED):
        return S.SHIPPED
    if shipped:
        return S.PARTIALLY_SHIPPED
    if any(RANK.get(state, 0) >= RANK[JobState.IN_PRODUCTION] for state in states):
        return S.IN_PRODUCTION
    return None
