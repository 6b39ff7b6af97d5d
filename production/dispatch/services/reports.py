"""Reports of providers: stored once each, applied only if they advance the job."""

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from fulfillment.core.errors import ServiceBusy
from fulfillment.core.text import storable
from production.dispatch.services.queueing import follow_jobs, parcel_of
from production.dispatch.services.restarting import send_without_another
from production.dispatch.services.verdicts import assess
from production.gang_sheets.models import NUMBER as SHEET_NUMBER
from production.gang_sheets.models import GangSheet
from production.interface import Report
from production.jobs.models import (
    OPEN,
    UNREAD,
    Attempt,
    AttemptOutcome,
    Job,
    JobState,
    ProviderReport,
    ReportOutcome,
)
from production.jobs.services.outcomes import notify_of_failure
from production.jobs.services.recording import OF_ORDER, fail_job, failed_often, record_jobs
from production.providers.models import Provider
from stores.orders.services.changes import lock_order
from stores.orders.services.transitions import Parcel

MAX_RAW_LENGTH = 20_000
WITH_ORDERS = Job.objects.select_related("order", "provider").defer(*UNREAD)
OF_REPORT = (*OF_ORDER, "reported")


def receive_reports(
    *, provider: Provider, reports: Sequence[Report], seconds: float = math.inf
) -> list[ProviderReport]:
    """Applies reports in the order of their times where known; those of one order in one transaction.

    Raises ServiceBusy after `seconds`: what is stored by then is passed over when they are sent again.
    """
    by_time = sorted(enumerate(reports), key=lambda entry: (entry[1].at is None, entry[1].at or 0, entry[0]))
    rows: list[ProviderReport] = []
    until = time.monotonic() + seconds
    for _, report in by_time:
        if rows and time.monotonic() > until:
            raise ServiceBusy(f"Storing the reports takes more than {seconds:g} seconds; send them again.")
        for order_reports in _for_each_job(provider, _make_storable(report)):
            rows += _receive_of_order(provider, order_reports)
    return rows


def mark_reports_seen(*, reports: QuerySet[ProviderReport]) -> int:
    """Marks as seen by an operator, and counts them."""
    return reports.update(is_seen=True)


def _for_each_job(provider: Provider, report: Report) -> list[list[Report]]:
    """A report of a gang sheet, or of an order at the provider, is one of each job in it; they are put by order."""
    sheet, jobs = _jobs_of_sheet(provider, report.job_number)
    if not jobs:
        jobs = _jobs_of_provider_order(provider, report.job_number)
        if (item_number := _find_meant_number(report, jobs)) is not None:
            return [[replace(report, job_number=item_number)]]
    if not jobs:
        return [[report]]
    by_order: dict[UUID, list[Report]] = {}
    if len({job.order_id for job in jobs}) > 1:
        # A parcel it names is kept where all go to one order.
        report = replace(report, carrier="", tracking_number="", tracking_url="")
    message = f"{report.message} (gang sheet {sheet})".strip() if sheet else report.message
    job_reports = [(job, replace(report, job_number=job.number, message=message)) for job in jobs]
    # Assessed again under the locks: hundreds of jobs that stay as they are would hold those of the store for long.
    repeated_failures = failed_often(jobs)
    effective = [
        pair
        for pair in job_reports
        if assess(pair[0], provider, pair[1], repeated_failures)[0] == ReportOutcome.APPLIED
    ]
    for job, job_report in effective or job_reports[:1]:
        identifier = f"{report.identifier[:150]}:{job.number}"
        by_order.setdefault(job.order_id, []).append(replace(job_report, identifier=identifier))
    return list(by_order.values())


def _jobs_of_sheet(provider: Provider, number: str) -> tuple[GangSheet | None, list[Job]]:
    if (match := SHEET_NUMBER.match(number)) is None:
        return None, []
    sheet = GangSheet.objects.filter(provider=provider, pk=int(match[1])).first()
    if sheet is None or sheet.number != number:
        return None, []
    return sheet, list(WITH_ORDERS.filter(gang_sheet=sheet).order_by("pk"))


def _jobs_of_provider_order(provider: Provider, number: str) -> list[Job]:
    """An order at a provider has the number of one of its jobs."""
    if (job := _job_for(number)) is None:
        return []
    jobs = WITH_ORDERS.filter(order=job.order_id, provider=provider, provider_order=number)
    return list(jobs.order_by("item__position"))


def _find_meant_number(report: Report, jobs: Sequence[Job]) -> str | None:
    """The number of the job that is meant by an item of an order at the provider, which cancels whole orders."""
    if not jobs or not report.item_number or report.state == JobState.CANCELLED:
        return None
    job = _job_for(report.item_number)
    return report.item_number if job and job.order_id == jobs[0].order_id else None


@transaction.atomic
def _receive_of_order(provider: Provider, reports: Sequence[Report]) -> list[ProviderReport]:
    """Stores reports on jobs of one order, and moves the jobs and the order on: others of the store wait for it."""
    jobs: dict[str, Job] = {}
    if len(_stored_reports(provider, reports)) < len(reports):
        jobs = _lock_by_number([report.job_number for report in reports])
    if any(job.order.recipient_erased for job in jobs.values()):
        # What the provider writes may name the recipient again.
        reports = [replace(report, message="", raw="", tracking_url="") for report in reports]
    stored_rows = _stored_reports(provider, reports)
    if stored_rows:
        repeated_rows = ProviderReport.objects.filter(pk__in=[row.pk for row in stored_rows.values()])
        repeated_rows.update(repeats=F("repeats") + 1)
    repeated_failures = failed_often(jobs.values())
    new_rows = [
        (_build_row(provider, report, jobs.get(report.job_number), repeated_failures), report)
        for report in reports
        if report.identifier[:200] not in stored_rows
    ]
    applied = [
        (row, row.job, report) for row, report in new_rows if row.job and row.outcome == ReportOutcome.APPLIED
    ]
    _apply_all([(job, report) for _, job, report in applied])
    _move_on(applied)
    # A report that is repeated at this moment waits for the order, or has no job.
    ProviderReport.objects.bulk_create([row for row, _ in new_rows], ignore_conflicts=True)
    rows = stored_rows | {row.identifier: row for row, _ in new_rows}
    return [rows[report.identifier[:200]] for report in reports]


def _stored_reports(provider: Provider, reports: Sequence[Report]) -> dict[str, ProviderReport]:
    identifiers = [report.identifier[:200] for report in reports]
    rows = ProviderReport.objects.filter(provider=provider, identifier__in=identifiers).defer("raw")
    return {row.identifier: row for row in rows}


def _lock_by_number(numbers: Sequence[str]) -> dict[str, Job]:
    """The locked jobs of one locked order, by the numbers under which they are reported."""
    job_by_number = {job.number: job for job in WITH_ORDERS.filter(number__in=numbers)}
    for number in numbers:
        if number not in job_by_number and (earlier := _job_for(number)) is not None:
            job_by_number[number] = earlier
    if not job_by_number:
        return {}
    order = lock_order(next(iter(job_by_number.values())).order)
    # What may change is read after the locks: a join would show rows from before.
    jobs = Job.objects.filter(pk__in={job.pk for job in job_by_number.values()}).prefetch_related("provider")
    jobs = jobs.select_related("item").defer(*UNREAD).order_by("pk")
    locked = {job.pk: job for job in jobs.select_for_update(of=("self",), no_key=True)}
    for job in locked.values():
        job.order = order
    return {number: locked[job.pk] for number, job in job_by_number.items()}


def _build_row(
    provider: Provider, report: Report, job: Job | None, repeated_failures: Collection[int]
) -> ProviderReport:
    row = ProviderReport(
        provider=provider, identifier=report.identifier[:200], job=job, **_build_columns(report)
    )
    if job is None:
        row.outcome, row.explanation = ReportOutcome.UNKNOWN_JOB, "No job was ever sent under this number."
    else:
        row.outcome, row.explanation = assess(job, provider, report, repeated_failures)
    return row


def _make_storable(report: Report) -> Report:
    texts = {name: value for name, value in asdict(report).items() if isinstance(value, str)}
    clean: dict[str, Any] = {name: storable(text) for name, text in texts.items()}
    # A press whose clock is ahead must not make its later reports late.
    at = min(report.at, timezone.now()) if report.at else None
    return replace(report, **clean, at=at)


def _build_columns(report: Report) -> dict[str, Any]:
    return {
        "job_number": report.job_number[:100],
        "state": report.state[:20],
        "at": report.at,
        "received": timezone.now(),
        "carrier": report.carrier[:60],
        "tracking_number": report.tracking_number[:100],
        "tracking_url": report.tracking_url[:1000],
        "message": report.message[:1000],
        "raw": report.raw[:MAX_RAW_LENGTH],
    }


def _job_for(number: str) -> Job | None:
    """Finds a job by its current or an earlier number."""
    job = Job.objects.select_related("order").filter(number=number).first()
    if job is None:
        attempt = Attempt.objects.filter(number=number).select_related("job__order").first()
        job = attempt.job if attempt else None
    return job


def _apply_all(applied: Sequence[tuple[Job, Report]]) -> None:
    """Changes the locked jobs of an order, and saves them."""
    jobs, now = [job for job, _ in applied], timezone.now()
    cancelled_orders = _left_with_another(jobs)
    under_way = Attempt.objects.filter(job__in=jobs, outcome=AttemptOutcome.UNFINISHED)
    interrupted = set(under_way.values_list("job", flat=True))
    changes, failed = [], []
    for job, report in applied:
        if (
            report.state == JobState.CANCELLED
            and not job.cancel_requested
            and job.provider_order in cancelled_orders
        ):
            send_without_another(job)
            continue
        previous = job.state
        _apply_report(job, report, now)
        if job.next_try is None and not job.held and job.pk in interrupted:
            # The worker may have been killed: the job becomes due again, which ends the attempt.
            job.next_try = now
        changes.append((job, previous, f"{_report_text(report, [job])} {report.message}".strip()))
        if job.state == JobState.FAILED:
            failed.append(job)
    record_jobs(changes, fields=OF_REPORT)
    Job.objects.filter(pk__in=[job.pk for job in jobs if job.sent == now], sent=None).update(sent=now)
    if failed:
        notify_of_failure(failed)


def _left_with_another(jobs: Sequence[Job]) -> set[str]:
    """Numbers of orders at the provider that were to be cancelled because of one job in them."""
    numbers = {job.provider_order for job in jobs} - {""}
    if not numbers:
        return set()
    jobs_of_orders = Job.objects.filter(order=jobs[0].order_id, provider_order__in=numbers)
    leaving = jobs_of_orders.filter(cancel_requested__isnull=False, state__in=(*OPEN, JobState.CANCELLED))
    return set(leaving.values_list("provider_order", flat=True))


def _apply_report(job: Job, report: Report, now: datetime) -> None:
    """Changes the job, unsaved."""
    job.next_try = job.next_try if job.cancel_requested else None
    job.is_uncertain, job.failing_since = False, None
    is_failure = report.state in (JobState.FAILED, JobState.CANCELLED)
    if report.at or is_failure:
        # What we see ourselves, such as files that were taken, has no time of the press to compare with.
        job.reported = max(filter(None, (report.at or now, job.reported)))
    if report.state == JobState.CANCELLED and job.cancel_requested:
        job.state, job.next_try, job.message, job.held = JobState.CANCELLED, None, "", ""
    elif is_failure:
        message = report.message or (
            "no reason given" if report.state == JobState.FAILED else "cancelled there"
        )
        fail_job(job=job, message=f"{job.provider} reported: {message}")
    else:
        job.state, job.message, job.held = report.state, "", ""
        job.sent = job.sent or now
        if report.state == JobState.SHIPPED:
            job.cancel_requested = job.next_try = None


def _move_on(applied: Sequence[tuple[ProviderReport, Job, Report]]) -> None:
    """Moves the locked order on to the state of its jobs; a parcel of several jobs is one. The rows are unsaved."""
    advanced = [
        (row, job, report)
        for row, job, report in applied
        if job.state not in (JobState.FAILED, JobState.QUEUED)
    ]
    if not advanced:
        return
    jobs, report = [job for _, job, _ in advanced], advanced[0][2]
    explanation = follow_jobs(
        order=jobs[0].order, parcels=_list_parcels(jobs, report), note=_report_text(report, jobs)
    )
    for row, _, _ in advanced if explanation else ():
        row.explanation = explanation[:1000]


def _report_text(report: Report, jobs: Sequence[Job]) -> str:
    state = dict(JobState.choices).get(report.state, report.state)
    job_names = f"job{'s' if len(jobs) > 1 else ''} {', '.join(job.number for job in jobs)}"
    return f"{jobs[0].provider} reported {state} of {job_names}."


def _list_parcels(jobs: Sequence[Job], report: Report) -> list[Parcel]:
    is_named = report.state == JobState.SHIPPED and report.tracking_number
    return [parcel_of(jobs, report)] if is_named else []
