"""Reports of providers: stored once each, applied only if they advance the job."""

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from fulfillment.core.errors import ServiceBusy
from fulfillment.core.text import storable
from production.dispatch.services.actions import send_without_another
from production.dispatch.services.queueing import follow_jobs
from production.gang_sheets.models import NUMBER as SHEET_NUMBER
from production.gang_sheets.models import GangSheet
from production.interface import Report
from production.jobs.models import (
    OPEN,
    RANK,
    UNREAD,
    Attempt,
    AttemptOutcome,
    Job,
    JobState,
    ProviderReport,
    ReportOutcome,
)
from production.jobs.services.outcomes import notify_of_failure
from production.jobs.services.recording import fail_job, has_failed_often, lock_job, record_job
from production.providers.models import Provider
from stores.orders.services.transitions import Parcel, lock_order

MAX_RAW_LENGTH = 20_000
WITH_ORDERS = Job.objects.select_related("order", "provider").defer(*UNREAD)
O = ReportOutcome  # noqa: E741 - used beside long words
Verdict = tuple[ReportOutcome, str]


def receive_reports(
    *, provider: Provider, reports: Sequence[Report], seconds: float = math.inf
) -> list[ProviderReport]:
    """Applies reports in the order of their times where known; those of one order in one transaction.

    Raises ServiceBusy after `seconds`: what is stored by then is passed over when they are sent again.
    """
    known = sorted(enumerate(reports), key=lambda one: (one[1].at is None, one[1].at or 0, one[0]))
    rows: list[ProviderReport] = []
    until = time.monotonic() + seconds
    for _, report in known:
        if rows and time.monotonic() > until:
            raise ServiceBusy(f"Storing the reports takes more than {seconds:g} seconds; send them again.")
        for of_one_order in _for_each_job(provider, _storable(report)):
            rows += _receive(provider, of_one_order)
    return rows


def _for_each_job(provider: Provider, report: Report) -> list[list[Report]]:
    """A report of a gang sheet, or of an order at the provider, is one of each job in it; they are put by order."""
    sheet, jobs = _jobs_of_sheet(provider, report.job_number)
    if not jobs:
        jobs = _jobs_of_provider_order(provider, report.job_number)
        if (meant := _meant(report, jobs)) is not None:
            return [[replace(report, job_number=meant)]]
    if not jobs:
        return [[report]]
    by_order: dict[UUID, list[Report]] = {}
    if len({job.order_id for job in jobs}) > 1:
        # A parcel it names is kept where all go to one order.
        report = replace(report, carrier="", tracking_number="", tracking_url="")
    message = f"{report.message} (gang sheet {sheet})".strip() if sheet else report.message
    each = [(job, replace(report, job_number=job.number, message=message)) for job in jobs]
    # Assessed again under the locks: hundreds of jobs that stay as they are would hold those of the store for long.
    changed = [one for one in each if _assess(one[0], provider, one[1])[0] == O.APPLIED]
    for job, one in changed or each[:1]:
        identifier = f"{report.identifier[:150]}:{job.number}"
        by_order.setdefault(job.order_id, []).append(replace(one, identifier=identifier))
    return list(by_order.values())


def _jobs_of_sheet(provider: Provider, number: str) -> tuple[GangSheet | None, list[Job]]:
    if (found := SHEET_NUMBER.match(number)) is None:
        return None, []
    sheet = GangSheet.objects.filter(provider=provider, pk=int(found[1])).first()
    if sheet is None or sheet.number != number:
        return None, []
    return sheet, list(WITH_ORDERS.filter(gang_sheet=sheet).order_by("pk"))


def _jobs_of_provider_order(provider: Provider, number: str) -> list[Job]:
    """An order at a provider has the number of one of its jobs."""
    if (job := _job_for(number)) is None:
        return []
    found = WITH_ORDERS.filter(order=job.order_id, provider=provider, provider_order=number)
    return list(found.order_by("item__position"))


def _meant(report: Report, jobs: Sequence[Job]) -> str | None:
    """The number of the job that is meant by an item of an order at the provider, which cancels whole orders."""
    if not jobs or not report.item_number or report.state == JobState.CANCELLED:
        return None
    found = _job_for(report.item_number)
    return report.item_number if found and found.order_id == jobs[0].order_id else None


@transaction.atomic
def _receive(provider: Provider, reports: Sequence[Report]) -> list[ProviderReport]:
    """Stores reports on jobs of one order, and moves that order on after all of them."""
    rows: list[ProviderReport] = []
    applied: list[tuple[ProviderReport, Job, Report]] = []
    for report in reports:
        row, job, stored = _record(provider, report)
        rows.append(row)
        if job is not None:
            applied.append((row, job, stored))
    _move_on(applied)
    return rows


def _record(provider: Provider, report: Report) -> tuple[ProviderReport, Job | None, Report]:
    """The row, with the locked job if the report changed it."""
    row, is_new = ProviderReport.objects.get_or_create(
        provider=provider, identifier=report.identifier[:200], defaults=_columns(report)
    )
    if not is_new:
        ProviderReport.objects.filter(pk=row.pk).update(repeats=F("repeats") + 1)
        return row, None, report
    found = _job_for(report.job_number)
    if found is None:
        row.outcome, row.explanation = O.UNKNOWN_JOB, "No job was ever sent under this number."
    else:
        order = lock_order(found.order, ())
        row.job = job = lock_job(found.pk)
        job.order = order
        if order.recipient_erased:
            # What the provider writes may name the recipient again.
            report = replace(report, message="", raw="", tracking_url="")
            row.message = row.raw = row.tracking_url = ""
        row.outcome, row.explanation = _assess(job, provider, report)
        if row.outcome == O.APPLIED:
            _apply(job, report)
    row.save(update_fields=["job", "outcome", "explanation", "message", "raw", "tracking_url"])
    return row, row.job if row.outcome == O.APPLIED else None, report


def _storable(report: Report) -> Report:
    texts = {name: value for name, value in asdict(report).items() if isinstance(value, str)}
    clean: dict[str, Any] = {name: storable(text) for name, text in texts.items()}
    # A press whose clock is ahead must not make its later reports late.
    at = min(report.at, timezone.now()) if report.at else None
    return replace(report, **clean, at=at)


def _columns(report: Report) -> dict[str, object]:
    return {
        "job_number": report.job_number[:100],
        "state": report.state[:20],
        "at": report.at,
        "received": timezone.now(),
        "outcome": O.UNKNOWN_JOB,
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


def _assess(job: Job, provider: Provider, report: Report) -> Verdict:
    if report.state not in RANK and report.state not in (JobState.FAILED, JobState.CANCELLED):
        return O.CONTRADICTION, f"{report.state!r} is not a state of a job."
    if report.job_number != job.number:
        is_over = report.state == JobState.CANCELLED
        return O.LATE if is_over else O.CONTRADICTION, f"The job was sent again since, as {job.number}."
    if job.provider_id != provider.pk:
        return O.CONTRADICTION, f"The job is with {job.provider or 'no provider'} now."
    if job.state == JobState.CANCELLED:
        if report.state == JobState.CANCELLED:
            return O.LATE, "The job was cancelled before this report."
        return O.CONTRADICTION, "The job was cancelled."
    if job.state == JobState.FAILED:
        return _assess_failed(job, report)
    if report.state in (JobState.FAILED, JobState.CANCELLED):
        if job.state == JobState.SHIPPED:
            return O.CONTRADICTION, "The job was reported as shipped."
        if job.reported and report.at and report.at < job.reported:
            return O.LATE, "A later report says otherwise."
        return O.APPLIED, ""
    return _assess_progress(job, report)


def _leaves_with_another(job: Job) -> bool:
    """Whether the job's order at the provider was to be cancelled because of another job in it."""
    if not job.provider_order or job.cancel_requested:
        return False
    others = Job.objects.filter(order=job.order_id, provider_order=job.provider_order)
    return others.filter(cancel_requested__isnull=False, state__in=(*OPEN, JobState.CANCELLED)).exists()


def _assess_failed(job: Job, report: Report) -> Verdict:
    """A later report of progress overrides a failure."""
    if report.state in (JobState.FAILED, JobState.CANCELLED):
        return O.LATE, "The job failed before this report."
    if job.reported and (report.at is None or report.at <= job.reported):
        return O.LATE, "The press reported this before the failure."
    if has_failed_often(job):
        return O.CONTRADICTION, "The job failed too often: send it again or cancel it."
    return O.APPLIED, ""


def _assess_progress(job: Job, report: Report) -> Verdict:
    if RANK[report.state] > RANK[job.state]:
        return O.APPLIED, ""
    is_new_parcel = report.state == JobState.SHIPPED and report.tracking_number
    if is_new_parcel and report.tracking_number not in job.order.tracking_numbers:
        return O.APPLIED, ""
    return O.LATE, f"The job is {job.get_state_display()} already."


def _apply(job: Job, report: Report) -> None:
    if report.state == JobState.CANCELLED and _leaves_with_another(job):
        send_without_another(job)
        return
    previous = job.state
    job.next_try = job.next_try if job.cancel_requested else None
    job.is_uncertain, job.failing_since = False, None
    job.reported = max(filter(None, (report.at or timezone.now(), job.reported)))
    if report.state == JobState.CANCELLED and job.cancel_requested:
        job.state, job.next_try, job.message, job.held = JobState.CANCELLED, None, "", ""
    elif report.state in (JobState.FAILED, JobState.CANCELLED):
        message = report.message or (
            "no reason given" if report.state == JobState.FAILED else "cancelled there"
        )
        fail_job(job, f"{job.provider} reported: {message}")
    else:
        job.state, job.message, job.held = report.state, "", ""
        job.sent = job.sent or timezone.now()
        if report.state == JobState.SHIPPED:
            job.cancel_requested = job.next_try = None
    under_way = Attempt.objects.filter(job=job, outcome=AttemptOutcome.UNFINISHED)
    if job.next_try is None and not job.held and under_way.exists():
        # The worker may have been killed: the job becomes due again, which ends the attempt.
        job.next_try = timezone.now()
    record_job(job, previous=previous, note=f"{_said(report, [job])} {report.message}".strip())
    if job.state == JobState.FAILED:
        notify_of_failure(job)


def _move_on(applied: Sequence[tuple[ProviderReport, Job, Report]]) -> None:
    """Moves the locked order on to the state of its jobs; a parcel of several jobs is one."""
    moved = [
        (row, job, report)
        for row, job, report in applied
        if job.state not in (JobState.FAILED, JobState.QUEUED)
    ]
    if not moved:
        return
    jobs, report = [job for _, job, _ in moved], moved[0][2]
    explanation = follow_jobs(order=jobs[0].order, parcels=_parcels(jobs, report), note=_said(report, jobs))
    for row, _, _ in moved if explanation else ():
        row.explanation = explanation[:1000]
        row.save(update_fields=["explanation"])


def _said(report: Report, jobs: Sequence[Job]) -> str:
    shown = dict(JobState.choices).get(report.state, report.state)
    of = f"job{'s' if len(jobs) > 1 else ''} {', '.join(job.number for job in jobs)}"
    return f"{jobs[0].provider} reported {shown} of {of}."


def _parcels(jobs: Sequence[Job], report: Report) -> list[Parcel]:
    if report.state != JobState.SHIPPED or not report.tracking_number:
        return []
    link = report.tracking_url if report.tracking_url.startswith(("https://", "http://")) else ""
    return [
        Parcel(
            report.carrier[:60] or "Carrier",
            report.tracking_number[:100],
            link[:1000],
            tuple(job.item.item_key for job in jobs),
            report.at or timezone.now(),
        )
    ]
