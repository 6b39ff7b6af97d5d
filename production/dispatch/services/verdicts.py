"""Whether a report of a provider changes its job."""

from collections.abc import Collection

from production.interface import Report
from production.jobs.models import RANK, Job, JobState, ReportOutcome
from production.providers.models import Provider

Verdict = tuple[ReportOutcome, str]


def assess(job: Job, provider: Provider, report: Report, repeated_failures: Collection[int]) -> Verdict:
    """The outcome of the report and its reason; no report overrides a failure of the jobs in `repeated_failures`."""
    if report.state not in RANK and report.state not in (JobState.FAILED, JobState.CANCELLED):
        return ReportOutcome.CONTRADICTION, f"{report.state!r} is not a state of a job."
    if report.job_number != job.number:
        is_over = report.state == JobState.CANCELLED
        return (
            ReportOutcome.LATE if is_over else ReportOutcome.CONTRADICTION,
            f"The job was sent again since, as {job.number}.",
        )
    if job.provider_id != provider.pk:
        return ReportOutcome.CONTRADICTION, f"The job is with {job.provider or 'no provider'} now."
    if job.state == JobState.CANCELLED:
        if report.state == JobState.CANCELLED:
            return ReportOutcome.LATE, "The job was cancelled before this report."
        return ReportOutcome.CONTRADICTION, "The job was cancelled."
    if job.state == JobState.FAILED:
        return _assess_failed(job, report, repeated_failures)
    if report.state in (JobState.FAILED, JobState.CANCELLED):
        if job.state == JobState.SHIPPED:
            return ReportOutcome.CONTRADICTION, "The job was reported as shipped."
        if job.reported and report.at and report.at < job.reported:
            return ReportOutcome.LATE, "A later report says otherwise."
        return ReportOutcome.APPLIED, ""
    return _assess_progress(job, report)


def _assess_failed(job: Job, report: Report, repeated_failures: Collection[int]) -> Verdict:
    """A later report of progress overrides a failure."""
    if report.state in (JobState.FAILED, JobState.CANCELLED):
        return ReportOutcome.LATE, "The job failed before this report."
    if job.reported and (report.at is None or report.at <= job.reported):
        return ReportOutcome.LATE, "The press reported this before the failure."
    if job.pk in repeated_failures:
        return ReportOutcome.CONTRADICTION, "The job failed too often: send it again or cancel it."
    return ReportOutcome.APPLIED, ""


def _assess_progress(job: Job, report: Report) -> Verdict:
    if RANK[report.state] > RANK[job.state]:
        return ReportOutcome.APPLIED, ""
    is_new_parcel = report.state == JobState.SHIPPED and report.tracking_number
    if is_new_parcel and report.tracking_number not in job.order.tracking_numbers:
        return ReportOutcome.APPLIED, ""
    return ReportOutcome.LATE, f"The job is {job.get_state_display()} already."
