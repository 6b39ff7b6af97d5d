"""Reports of providers: stored once each, applied only if they advance the job."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from production.dispatch.services.order_progress import follow_jobs
from production.gang_sheets.models import NUMBER as SHEET_NUMBER
from production.gang_sheets.models import GangSheet
from production.interface import Report
from production.jobs.models import RANK, Attempt, AttemptOutcome, Job, JobState, ProviderReport, ReportOutcome
from production.jobs.services.notices import notify_of_failure
from production.jobs.services.recording import fail_job, lock_job, record_job
from production.providers.models import Provider
from stores.orders.services.transitions import Parcel, lock_order

LONGEST_RAW = 20_000
O = ReportOutcome  # noqa: E741 - used beside long words
Verdict = tuple[ReportOutcome, str]


def receive_reports(*, provider: Provider, reports: Sequence[Report]) -> list[ProviderReport]:
    """Applies reports in the order of their times where known; each in its own transaction."""
    reports = [one for report in reports for one in _for_each_job(provider, report)]
    known = sorted(enumerate(reports), key=lambda one: (one[1].at is None, one[1].at or 0, one[0]))
    return [receive_report(provider=provider, report=report) for _, report in known]


def _for_each_job(provider: Provider, report: Report) -> list[Report]:
    """A report of a gang sheet is one of each job on it. A parcel it names is kept where all go to one order."""
    found = SHEET_NUMBER.match(report.job_number)
    sheets = (
        GangSheet.objects.filter(provider=provider, pk=int(found[1])) if found else GangSheet.objects.none()
    )
    sheet = sheets.first()
    jobs = list(Job.objects.filter(gang_sheet=sheet).order_by("pk")) if sheet else []
    if sheet is None or sheet.number != report.job_number or not jobs:
        return [report]
    if len({job.order_id for job in jobs}) > 1:
        report = replace(report, carrier="", tracking_number="", tracking_url="")
    message = f"{report.message} (gang sheet {sheet})".strip()
    return [
        replace(
            report,
            identifier=f"{report.identifier[:150]}:{job.number}",
            job_number=job.number,
            message=message,
        )
        for job in jobs
    ]


@transaction.atomic
def receive_report(*, provider: Provider, report: Report) -> ProviderReport:
    report = _storable(report)
    row, is_new = ProviderReport.objects.get_or_create(
        provider=provider, identifier=report.identifier[:200], defaults=_columns(report)
    )
    if not is_new:
        ProviderReport.objects.filter(pk=row.pk).update(repeats=F("repeats") + 1)
        return row
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
            row.explanation = _apply(job, report)
    row.explanation = row.explanation[:1000]
    row.save(update_fields=["job", "outcome", "explanation", "message", "raw", "tracking_url"])
    return row


def _storable(report: Report) -> Report:
    """The text without NUL and lone surrogates, which PostgreSQL cannot store."""
    texts = {name: value for name, value in asdict(report).items() if isinstance(value, str)}
    clean: dict[str, Any] = {name: _storable_text(text) for name, text in texts.items()}
    # A press whose clock is ahead must not make its later reports late.
    at = min(report.at, timezone.now()) if report.at else None
    return replace(report, **clean, at=at)


def _storable_text(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode()


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
        "raw": report.raw[:LONGEST_RAW],
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
        return O.CONTRADICTION, f"The job was sent again since, as {job.number}."
    if job.provider_id != provider.pk:
        return O.CONTRADICTION, f"The job is with {job.provider or 'no provider'} now."
    if job.state == JobState.CANCELLED:
        if report.state == JobState.CANCELLED:
            return O.LATE, "It is known to be cancelled."
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


def _assess_failed(job: Job, report: Report) -> Verdict:
    """A later report of progress overrides a failure."""
    if report.state in (JobState.FAILED, JobState.CANCELLED):
        return O.LATE, "It is known to have failed."
    if job.reported and (report.at is None or report.at <= job.reported):
        return O.LATE, "It was before the failure."
    return O.APPLIED, ""


def _assess_progress(job: Job, report: Report) -> Verdict:
    if RANK[report.state] > RANK[job.state]:
        return O.APPLIED, ""
    is_new_parcel = report.state == JobState.SHIPPED and report.tracking_number
    if is_new_parcel and report.tracking_number not in job.order.tracking_numbers:
        return O.APPLIED, ""
    return O.LATE, f"The job is {job.get_state_display()} already."


def _apply(job: Job, report: Report) -> str:
    previous = job.state
    shown = dict(JobState.choices).get(report.state, report.state)
    who = f"{job.provider} reported {shown} of job {job.number}."
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
    if job.next_try is None and not job.held and _has_attempt_under_way(job):
        # The worker may have been killed: the job becomes due again, which ends the attempt.
        job.next_try = timezone.now()
    record_job(job, previous=previous, note=f"{who} {report.message}".strip())
    if job.state == JobState.FAILED:
        notify_of_failure(job)
        return ""
    return follow_jobs(order=job.order, parcels=_parcels(job, report), note=who)


def _has_attempt_under_way(job: Job) -> bool:
    return Attempt.objects.filter(job=job, outcome=AttemptOutcome.UNFINISHED).exists()


def _parcels(job: Job, report: Report) -> list[Parcel]:
    if report.state != JobState.SHIPPED or not report.tracking_number:
        return []
    link = report.tracking_url if report.tracking_url.startswith(("https://", "http://")) else ""
    return [
        Parcel(
            report.carrier[:60] or "Carrier",
            report.tracking_number[:100],
            link[:1000],
            (job.item.item_key,),
            report.at or timezone.now(),
        )
    ]
