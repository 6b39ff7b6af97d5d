"""Restarts locked jobs under new numbers."""

from django.utils import timezone

from fulfillment.core.errors import Conflict
from production.jobs.models import Job, JobState
from production.jobs.services.outcomes import cancel_locked
from production.jobs.services.recording import lock_job, make_due, record_job
from production.providers.models import Provider
from stores.orders.models import Order
from stores.orders.models.status import TERMINAL_OR_SHIPPED
from stores.orders.services.changes import lock_order


def lock_with_order(job: Job) -> Job:
    """Locks the order before its job, in the same order as changes of orders do."""
    order = lock_order(job.order)
    locked = lock_job(job.pk)
    locked.order = order
    return locked


def refuse_ended(order: Order) -> None:
    """Raises Conflict for an order of which nothing is produced any more."""
    if order.status in TERMINAL_OR_SHIPPED:
        raise Conflict(
            f"Order {order} is {order.get_status_display()}, so it is no longer produced.",
            code="order_at_its_end",
        )


def send_without_another(job: Job) -> None:
    """Restarts a locked job whose order at the provider was cancelled there because of another job in it.

    It is cancelled with the other one where nothing of its order is produced any more.
    """
    if job.order.status in TERMINAL_OR_SHIPPED:
        cancel_locked(job, note=f"Cancelled at {job.provider}.")
        return
    previous, number, hold = job.state, job.number, job.held
    start_again(job, job.provider)
    job.held = hold
    make_due(job)
    note = f"{job.provider} cancelled the order of {number} for another item in it. Sent again as {job}."
    record_job(job=job, previous=previous, note=note)


def start_again(job: Job, provider: Provider | None) -> None:
    """Restarts the job under a new number, because the provider knows the old one."""
    job.generation += 1
    base = f"{job.order.number}-{job.item.position + 1}"
    job.number, job.provider, job.gang_sheet = f"{base}-{job.generation}", provider, None
    job.provider_order, job.rule = "", None
    job.state, job.message, job.reference, job.held = JobState.QUEUED, "", "", ""
    job.tries, job.refused_by, job.is_uncertain = 0, [], False
    job.failing_since = job.cancel_requested = job.reported = job.sent = None
    job.next_try = timezone.now()
