"""Records the outcomes of exchanges on their jobs, and erases what exchanges say of a recipient."""

import random
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Notification, NotificationKind
from accounts.permissions import ORDER_GRANTS
from accounts.selectors.staff import people_with
from accounts.services.notifications import erase_texts, notify
from fulfillment.core.audit.personal_data import ERASED
from fulfillment.core.errors import DomainError
from production.interface import Exchange, ProviderRefused, ProviderUnavailable, Submitted
from production.jobs.models import (
    Attempt,
    AttemptKind,
    AttemptOutcome,
    HoldReason,
    Job,
    JobHistory,
    JobState,
    ProviderReport,
)
from production.jobs.services.recording import (
    MAX_FAILURES,
    fail_job,
    lock_job,
    lock_jobs,
    make_due,
    record_job,
)
from production.providers.services import note_failure, note_success
from stores.orders.models import Order

# Seconds before the next attempt; the last value repeats.
BACKOFF = (2, 4, 8, 15, 30, 60, 120, 300, 600, 900)
GIVE_UP_AFTER = timedelta(hours=24)
MAX_WAIT = timedelta(hours=1)
MAX_TEXT_LENGTH = 200_000
INTERNAL_ERROR = "The service had an internal error; see its log."


def failure_keys(job_number: str) -> list[str]:
    """The keys of the notifications about failures under this number."""
    key = f"job:{job_number}:failed"
    return [key, *(f"{key}:{count}" for count in range(2, MAX_FAILURES + 1))]


def notify_of_failure(jobs: Sequence[Job]) -> int:
    """Notifies once of the jobs of one order that fail together, in their transaction."""
    people = people_with(ORDER_GRANTS, store_id=jobs[0].store_id)
    keys = [key for job in jobs for key in failure_keys(job.number)]
    used_keys = set(Notification.objects.filter(user__in=people, key__in=keys).values_list("key", flat=True))
    # One that nobody was notified of before, or else the first.
    unnotified = (candidate for candidate in jobs if failure_keys(candidate.number)[0] not in used_keys)
    job = next(unnotified, jobs[0])
    unused_keys = [key for key in failure_keys(job.number) if key not in used_keys]
    return notify(
        user_ids=people,
        kind=NotificationKind.JOB_FAILED,
        key=unused_keys[0] if unused_keys else keys[0],
        title=lambda: _failure_title(jobs),
        text=lambda: _failure_text(jobs),
        path=reverse("admin:production_job_change", args=[job.pk]),
    )


def _failure_title(jobs: Sequence[Job]) -> str:
    if len(jobs) == 1:
        return _("Print job %(number)s failed") % {"number": jobs[0].number}
    values = {"count": len(jobs), "number": jobs[0].order.number}
    return _("%(count)s print jobs of order %(number)s failed") % values


def _failure_text(jobs: Sequence[Job]) -> str:
    text = _(
        "%(reason)s The order waits until the job is sent again, moved to another provider or cancelled."
    )
    if len(jobs) > 1:
        text = _(
            "%(reason)s The order waits until the jobs are sent again, moved to another provider or cancelled."
        )
    reason = f"{jobs[0].provider}: {jobs[0].message}" if jobs[0].provider else jobs[0].message
    return text % {"reason": reason}


@transaction.atomic
def record_submitted(*, attempt: Attempt, submitted: Submitted, note: str = "") -> None:
    job = _complete_attempt(attempt, AttemptOutcome.SENT, exchange=submitted.exchange)
    note_success(provider=attempt.provider)
    if job.number != attempt.number:
        return
    previous = job.state
    job.reference = submitted.reference[:200]
    job.is_uncertain, job.failing_since = False, None
    job.next_try = timezone.now() if job.cancel_requested else None
    if job.state == JobState.QUEUED:
        job.state, job.sent, job.held, job.message = JobState.SENT, timezone.now(), "", ""
    record_job(
        job=job, previous=previous, note=note if previous != job.state else "The provider had it already."
    )


@transaction.atomic
def record_cancelled(*, attempt: Attempt, exchange: Exchange) -> None:
    job = _complete_attempt(attempt, AttemptOutcome.CANCELLED, exchange=exchange)
    note_success(provider=attempt.provider)
    if job.number == attempt.number and job.state != JobState.SHIPPED:
        cancel_locked(job, note=f"Cancelled at {attempt.provider}.")


@transaction.atomic
def record_refused(*, attempt: Attempt, error: ProviderRefused) -> None:
    if error.concerns_all:
        unavailable = ProviderUnavailable(str(error), error.exchange, is_unsent=True)
        record_unavailable(attempt=attempt, error=unavailable)
        return
    job = _complete_attempt(attempt, AttemptOutcome.REFUSED, exchange=error.exchange, message=str(error))
    note_success(provider=attempt.provider)
    if job.number != attempt.number:
        return
    previous = job.state
    if attempt.kind == AttemptKind.CANCEL:
        record_refused_cancellation(job, f"{attempt.provider} does not cancel it: {attempt.message}")
        return
    if error.is_unsent and job.is_uncertain:
        _hold_uncertain(
            job,
            f"{attempt.provider} may have it from an earlier attempt, and refuses it now: {attempt.message}",
        )
        return
    # The provider refused this number, so it does not have the job; another provider may get it.
    job.refused_by = [*job.refused_by, attempt.provider_id]
    job.provider, job.is_uncertain, job.failing_since, job.provider_order = None, False, None, ""
    make_due(job)
    job.message = f"{attempt.provider} refused it: {attempt.message}"[:1000]
    record_job(job=job, previous=previous, note=job.message)


@transaction.atomic
def record_left_out(
    *, attempt: Attempt, outcome: AttemptOutcome, message: str, exchange: Exchange | None = None
) -> None:
    """Another job of the same order at the provider was at fault: this one is sent again without it."""
    job = _complete_attempt(attempt, outcome, exchange=exchange, message=message)
    if job.number != attempt.number or job.state != JobState.QUEUED:
        return
    job.provider_order, job.is_uncertain = "", False
    if job.cancel_requested:
        _cancel_if_unsent(job)
        return
    make_due(job)
    job.save(update_fields=["provider_order", "is_uncertain", "held", "next_try"])


@transaction.atomic
def record_unavailable(*, attempt: Attempt, error: ProviderUnavailable) -> None:
    job = _complete_attempt(attempt, AttemptOutcome.UNAVAILABLE, exchange=error.exchange, message=str(error))
    note_failure(provider=attempt.provider, message=str(error), since=attempt.started)
    if job.number != attempt.number:
        return
    if attempt.kind == AttemptKind.SUBMIT and not error.is_unsent:
        job.is_uncertain = True
    _try_again(job, attempt, attempt.message, wait=error.retry_after)


@transaction.atomic
def record_postponed(*, attempt: Attempt, error: DomainError) -> None:
    """A part of the service is unavailable: nothing was sent, and the provider is not at fault."""
    job = _complete_attempt(attempt, AttemptOutcome.FAILED, message=error.message)
    if job.number == attempt.number:
        _try_again(job, attempt, error.message)


@transaction.atomic
def record_unusable(*, attempt: Attempt, message: str) -> None:
    """The job cannot be sent because of its file, settings or secrets; a retry does not help."""
    job = _complete_attempt(attempt, AttemptOutcome.FAILED, message=message)
    if job.number != attempt.number:
        return
    if attempt.kind == AttemptKind.CANCEL:
        record_refused_cancellation(job, attempt.message)
    elif job.state == JobState.QUEUED:
        fail_locked(job, attempt.message)


@transaction.atomic
def record_fault(*, job_pk: int) -> None:
    """An unexpected error, which is logged: jobs sent together are retried as for an unavailable provider."""
    order = Order.objects.select_for_update(of=("self",), no_key=True).get(jobs=job_pk)
    jobs = Job.objects.filter(order=order)
    number = jobs.values_list("provider_order", flat=True).get(pk=job_pk)
    affected_jobs = lock_jobs(jobs.filter(provider_order=number) if number else jobs.filter(pk=job_pk))
    for attempt in Attempt.objects.filter(job__in=affected_jobs, outcome=AttemptOutcome.UNFINISHED):
        job = _complete_attempt(attempt, AttemptOutcome.FAILED, message=INTERNAL_ERROR)
        job.is_uncertain = job.is_uncertain or attempt.kind == AttemptKind.SUBMIT
        _try_again(job, attempt, INTERNAL_ERROR)


def _complete_attempt(
    attempt: Attempt, outcome: AttemptOutcome, *, exchange: Exchange | None = None, message: str = ""
) -> Job:
    is_erased = _lock_order_and_check_erasure(attempt)
    attempt.outcome, attempt.finished = outcome, timezone.now()
    attempt.message = ERASED if message and is_erased else message[:1000]
    if exchange is not None:
        texts = [exchange.request, exchange.response]
        attempt.request, attempt.response = (
            ERASED if text and is_erased else text[:MAX_TEXT_LENGTH].replace("\0", "") for text in texts
        )
        attempt.digests = dict(exchange.digests)
    attempt.save()
    return lock_job(attempt.job_id)


def _lock_order_and_check_erasure(attempt: Attempt) -> bool:
    """Whether the recipient was erased since the exchange began; an erasure that begins now waits for us."""
    orders = Order.objects.select_for_update(of=("self",), no_key=True)
    erased_at = orders.values_list("recipient_erased", flat=True).get(jobs=attempt.job_id)
    return erased_at is not None and attempt.started <= erased_at


def _try_again(job: Job, attempt: Attempt, message: str, *, wait: float | None = None) -> None:
    now = timezone.now()
    if job.state != JobState.QUEUED and not job.cancel_requested:
        return
    job.failing_since = job.failing_since or now
    job.message = message[:1000]
    if now - job.failing_since > GIVE_UP_AFTER:
        if attempt.kind == AttemptKind.CANCEL:
            record_refused_cancellation(job, message)
        else:
            fail_locked(job, f"Given up after a day: {message}")
        return
    seconds = BACKOFF[min(_count_failures(job, attempt), len(BACKOFF)) - 1] * random.uniform(0.8, 1.2)  # noqa: S311
    delay = timedelta(seconds=max(seconds, wait or 0))
    job.next_try = None if job.held and not job.cancel_requested else now + min(delay, MAX_WAIT)
    if job.state == JobState.QUEUED and not job.is_uncertain and attempt.kind == AttemptKind.SUBMIT:
        # The provider does not have it: other jobs of the order may go with it the next time.
        job.provider_order = ""
    job.save(update_fields=["failing_since", "message", "next_try", "is_uncertain", "provider_order"])


def _count_failures(job: Job, attempt: Attempt) -> int:
    """The number of consecutive failures at this provider, including this one."""
    since = job.failing_since or attempt.started
    count = Attempt.objects.filter(job=job, provider=attempt.provider, finished__gte=since).count()
    return max(count, 1)


def _hold_uncertain(job: Job, message: str) -> None:
    """The provider may have the job, and does not take it again: an operator decides."""
    if job.cancel_requested:
        job.next_try = timezone.now()
    elif job.state == JobState.QUEUED:
        job.held, job.next_try = HoldReason.MANUAL, None
    job.message = message[:1000]
    record_job(job=job, previous=job.state, note=job.message)


def record_refused_cancellation(job: Job, message: str) -> None:
    """The provider continues to produce the job, and an operator decides; one that it cannot have is cancelled."""
    if _cancel_if_unsent(job):
        return
    job.cancel_requested, job.next_try, job.message = None, None, message[:1000]
    if job.state == JobState.QUEUED:
        job.held = HoldReason.MANUAL
    record_job(job=job, previous=job.state, note=job.message)


def _cancel_if_unsent(job: Job) -> bool:
    """Cancels the locked job unless a provider may have it."""
    is_unsent = job.state == JobState.QUEUED and not job.is_uncertain
    if is_unsent:
        cancel_locked(job, note="No provider has it.")
    return is_unsent


def cancel_locked(job: Job, *, note: str) -> None:
    previous = job.state
    job.state, job.next_try, job.held, job.message = JobState.CANCELLED, None, "", ""
    job.is_uncertain = False
    record_job(job=job, previous=previous, note=note)


def fail_locked(job: Job, message: str) -> None:
    if job.cancel_requested and _cancel_if_unsent(job):
        return
    previous = job.state
    fail_job(job=job, message=message)
    record_job(job=job, previous=previous, note=job.message)
    notify_of_failure([job])


def erase_exchanges(*, order: Order) -> None:
    """Erases exchanges in the transaction of the erasure; digests, times and states stay."""
    Attempt.objects.filter(job__order=order).exclude(request="").update(request=ERASED)
    Attempt.objects.filter(job__order=order).exclude(response="").update(response=ERASED)
    Attempt.objects.filter(job__order=order).exclude(message="").update(message=ERASED)
    reports = ProviderReport.objects.filter(job__order=order)
    reports.exclude(raw="").update(raw=ERASED)
    reports.exclude(message="").update(message=ERASED)
    reports.exclude(tracking_url="").update(tracking_url="")
    Job.objects.filter(order=order).exclude(message="").update(message=ERASED)
    JobHistory.objects.filter(job__order=order).exclude(note="").update(note=ERASED)
    _erase_notices(order)


def _erase_notices(order: Order) -> None:
    """Erases notifications about the order's failed jobs, which repeat what the provider wrote."""
    failed = Job.objects.filter(history__state=JobState.FAILED, order=order)
    numbers = {
        *failed.values_list("number", flat=True),
        *Attempt.objects.filter(job__in=failed).values_list("number", flat=True),
    }
    if numbers:
        erase_texts(keys=[key for number in sorted(numbers) for key in failure_keys(number)])
