"""Creates, holds, releases and cancels jobs in the transaction of an order's change."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from fulfillment.core.errors import DomainError
from fulfillment.core.web_addresses import web_address
from production.dispatch.services.cancelling import request_cancellations
from production.gang_sheets.services.members import remove_from_sheets
from production.interface import Report
from production.jobs.models import (
    AT_PROVIDER,
    IN_WORK,
    OF_PRODUCT,
    RANK,
    HoldReason,
    Job,
    JobHistory,
    JobState,
    ProviderReport,
    ReportOutcome,
)
from production.jobs.selectors import job_number
from production.jobs.services.recording import record_jobs
from production.routing.selectors import enabled_rules, first_rule, item_facts
from stores.orders.business_days import ship_day
from stores.orders.models import Order, OrderItem, OrderStatus
from stores.orders.models.status import WITH_SHIPMENTS
from stores.orders.services.changes import SYSTEM
from stores.orders.services.transitions import Parcel, transition_order

ORDER_CANCELLED = "The order was cancelled."
SHIPPED_UNREPORTED = "The order was shipped without a report of the provider."
HELD = "Held: the order is on hold."
RELEASED = "Released: the order was accepted again."
SHIPPED_WITHOUT = "The order was shipped without this job."


def follow_jobs(*, order: Order, parcels: Sequence[Parcel] = (), note: str = "") -> str:
    """Advances the locked order; returns why it could not, or ""."""
    target = _find_target(order)
    try:
        if target is not None and order.status == OrderStatus.ACCEPTED:
            order = transition_order(order=order, status=OrderStatus.IN_PRODUCTION, actor=SYSTEM, note=note)
        if target in WITH_SHIPMENTS and order.status in (
            OrderStatus.IN_PRODUCTION,
            OrderStatus.PARTIALLY_SHIPPED,
        ):
            # If the order already has the status, only parcels are added.
            transition_order(order=order, status=target, actor=SYSTEM, note=note, parcels=parcels)
        elif parcels and order.status in WITH_SHIPMENTS:
            transition_order(order=order, status=order.status, actor=SYSTEM, note=note, parcels=parcels)
        elif target is not None and order.status in (
            OrderStatus.RECEIVED,
            OrderStatus.ON_HOLD,
            OrderStatus.CANCELLED,
            OrderStatus.REJECTED,
        ):
            return f"The order is {OrderStatus(order.status).words}; its status does not change."
    except DomainError as error:
        return error.message
    return ""


def _find_target(order: Order) -> OrderStatus | None:
    states = list(Job.objects.filter(order=order).values_list("state", flat=True))
    shipped_count = states.count(JobState.SHIPPED)
    if shipped_count and shipped_count == order.item_count - states.count(JobState.CANCELLED):
        return OrderStatus.SHIPPED
    if shipped_count:
        return OrderStatus.PARTIALLY_SHIPPED
    if any(RANK.get(state, 0) >= RANK[JobState.IN_PRODUCTION] for state in states):
        return OrderStatus.IN_PRODUCTION
    return None


def follow_order(*, order: Order) -> None:
    """Called with the order locked, after its status changed."""
    if order.is_test or order.store.is_demo:
        return
    if order.status == OrderStatus.ACCEPTED:
        _queue_jobs(order)
        _release_jobs(order)
    elif order.status == OrderStatus.ON_HOLD:
        _hold_jobs(order)
    elif order.status in (OrderStatus.CANCELLED, OrderStatus.REJECTED):
        request_cancellations(_lock_jobs(order, state__in=IN_WORK), note=ORDER_CANCELLED)
    elif order.status in (OrderStatus.SHIPPED, OrderStatus.DELIVERED, OrderStatus.RETURNED):
        _close_jobs(order)


def _queue_jobs(order: Order) -> None:
    """Creates a job for each item that matches a rule and has none; other items are produced by hand."""
    rules = list(enabled_rules())
    if not rules:
        return
    items = order.items.filter(job__isnull=True).select_related("product").order_by("position")
    items = items.defer(*OrderItem.LARGE, *(f"product__{name}" for name in OF_PRODUCT))
    mailings = set(order.items.filter(eddm__isnull=False).order_by().values_list("pk", flat=True))
    routed_items = [item for item in items if first_rule(rules, item_facts(order, item))]
    now = timezone.now()
    jobs = Job.objects.bulk_create(
        _build_job(order, item, now, is_mailing=item.pk in mailings) for item in routed_items
    )
    JobHistory.objects.bulk_create(
        JobHistory(job=job, state=JobState.QUEUED, timestamp=now, actor_kind=SYSTEM.kind) for job in jobs
    )


def _build_job(order: Order, item: OrderItem, now: datetime, *, is_mailing: bool) -> Job:
    return Job(
        number=job_number(order, item.position),
        order=order,
        item=item,
        store_id=order.store_id,
        due=ship_day(order, is_mailing=is_mailing),
        next_try=now,
        created=now,
        updated=now,
    )


def _hold_jobs(order: Order) -> None:
    """Holds jobs; those already at a provider continue, and the board shows them."""
    jobs = _lock_jobs(order, state=JobState.QUEUED, held="", cancel_requested__isnull=True)
    remove_from_sheets(jobs)
    held_jobs = [job for job in jobs if job.gang_sheet_id is None]
    for job in held_jobs:
        job.held, job.next_try = HoldReason.ORDER, None
    record_jobs([(job, job.state, HELD) for job in held_jobs])


def _release_jobs(order: Order) -> None:
    jobs, now = _lock_jobs(order, held=HoldReason.ORDER), timezone.now()
    for job in jobs:
        job.held, job.next_try = "", now
    record_jobs([(job, job.state, RELEASED) for job in jobs])
    if order.jobs.exclude(state__in=(JobState.QUEUED, JobState.CANCELLED)).exists():
        follow_jobs(order=order, parcels=_reported_parcels(order))


def _reported_parcels(order: Order) -> list[Parcel]:
    """The parcels that reports named while the order was on hold: such an order takes no parcels."""
    reports = ProviderReport.objects.filter(
        job__order=order, job__state=JobState.SHIPPED, state=JobState.SHIPPED, outcome=ReportOutcome.APPLIED
    )
    by_number: dict[tuple[str, str], list[ProviderReport]] = {}
    known_numbers = ["", *order.tracking_numbers]
    for row in reports.exclude(tracking_number__in=known_numbers).select_related("job__item").order_by("pk"):
        by_number.setdefault((row.carrier, row.tracking_number), []).append(row)
    return [parcel_of([row.job for row in rows if row.job], rows[0]) for rows in by_number.values()]


def parcel_of(jobs: Sequence[Job], report: Report | ProviderReport) -> Parcel:
    """The parcel of these jobs that a report names."""
    link = report.tracking_url if web_address(report.tracking_url) else ""
    return Parcel(
        report.carrier[:60] or "Carrier",
        report.tracking_number[:100],
        link[:1000],
        tuple(job.item.item_key for job in jobs),
        report.at or timezone.now(),
    )


def _close_jobs(order: Order) -> None:
    """A person moved the order: what providers have is done, and nothing else of it is produced any more."""
    jobs = _lock_jobs(order, state__in=IN_WORK)
    request_cancellations([job for job in jobs if job.state not in AT_PROVIDER], note=SHIPPED_WITHOUT)
    changes = []
    for job in (candidate for candidate in jobs if candidate.state in AT_PROVIDER):
        changes.append((job, job.state, SHIPPED_UNREPORTED))
        job.state, job.message, job.held = JobState.SHIPPED, "", ""
        job.cancel_requested = job.next_try = job.failing_since = None
        job.is_uncertain = False
    record_jobs(changes)


def _lock_jobs(order: Order, **conditions: object) -> list[Job]:
    jobs = Job.objects.filter(order=order, **conditions).prefetch_related("provider").order_by("pk")
    return list(jobs.select_for_update(of=("self",), no_key=True))
