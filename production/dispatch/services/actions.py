"""Actions on jobs: resend, reassign, hold, release, cancel."""

from django.db import transaction
from django.utils import timezone

from fulfillment.core.errors import Conflict
from production.dispatch.services.cancelling import request_cancellations
from production.dispatch.services.choosing import count_jobs
from production.dispatch.services.restarting import lock_with_order, refuse_ended, start_again
from production.gang_sheets.services.members import make_sheet_due, remove_from_sheet
from production.jobs.models import AT_PROVIDER, AttemptOutcome, HoldReason, Job, JobState
from production.jobs.services.recording import lock_jobs, make_due, record_job
from production.providers.models import Provider
from stores.orders.models.status import UNACCEPTED
from stores.orders.services.changes import Actor


@transaction.atomic
def resend_job(*, job: Job, actor: Actor) -> Job:
    """Sends a waiting job at once. A failed or cancelled job is restarted under a new number."""
    locked = _lock_job(job)
    previous = locked.state
    if locked.cancel_requested and locked.state != JobState.CANCELLED:
        raise Conflict(f"Job {locked} is being cancelled.", code="job_being_cancelled")
    if locked.state == JobState.QUEUED:
        note = _try_at_once(locked)
        _release_others(locked, actor)
    elif locked.state in (JobState.FAILED, JobState.CANCELLED):
        start_again(locked, locked.provider)
        note = f"Sent again as {locked}."
    else:
        raise Conflict(
            f"Job {locked} is at the provider ({locked.get_state_display()}); cancel it before it is sent again.",
            code="job_at_provider",
        )
    record_job(job=locked, previous=previous, actor=actor, note=note)
    return locked


@transaction.atomic
def reassign_job(*, job: Job, provider: Provider, actor: Actor) -> Job:
    """Assigns a job to another provider; a submitted job must be cancelled first. One that is held, or whose order is,
    waits there."""
    locked = _lock_job(job)
    previous, previous_provider = locked.state, locked.provider
    if locked.state in AT_PROVIDER or locked.state == JobState.SHIPPED:
        raise Conflict(
            f"Job {locked} is at {previous_provider} ({locked.get_state_display()}); cancel it there first.",
            code="job_at_provider",
        )
    if locked.state == JobState.QUEUED and locked.is_uncertain:
        raise Conflict(
            f"{previous_provider} did not respond and may have job {locked}. Cancel it there first.",
            code="job_uncertain",
        )
    if not provider.is_enabled:
        raise Conflict(f"{provider} is disabled.", code="provider_disabled")
    if locked.state == JobState.QUEUED:
        _take_off_sheet(locked)
    _refuse_while_sent(locked)
    hold = locked.held
    if locked.tries or locked.state != JobState.QUEUED:
        start_again(locked, provider)
    locked.provider, locked.held = provider, hold
    make_due(locked)
    count_jobs({(provider.pk, None): 1}, moment=timezone.now())
    record_job(
        job=locked,
        previous=previous,
        actor=actor,
        note=f"Reassigned from {previous_provider or 'no provider'} to {provider}.",
    )
    return locked


@transaction.atomic
def cancel_job(*, job: Job, actor: Actor) -> Job:
    locked = lock_with_order(job)
    if locked.state in (JobState.CANCELLED, JobState.SHIPPED):
        if locked.state == JobState.CANCELLED:
            return locked
        raise Conflict(f"Job {locked} has been shipped: too late to cancel.", code="job_shipped")
    request_cancellations([locked], actor=actor, note="Cancelled by hand.")
    return locked


@transaction.atomic
def hold_job(*, job: Job, actor: Actor) -> Job:
    locked = lock_with_order(job)
    if locked.state != JobState.QUEUED or locked.cancel_requested:
        raise Conflict(
            f"Job {locked} is {locked.get_state_display()}: only queued jobs can be held.",
            code="job_not_queued",
        )
    _take_off_sheet(locked)
    if locked.provider_order:
        raise Conflict(
            f"Job {locked} is being sent in one order with others, or may be at {locked.provider}; cancel it.",
            code="job_uncertain",
        )
    _refuse_while_sent(locked)
    if locked.held != HoldReason.MANUAL:
        locked.held, locked.next_try = HoldReason.MANUAL, None
        record_job(job=locked, previous=locked.state, actor=actor, note="Held by hand.")
    return locked


@transaction.atomic
def release_job(*, job: Job, actor: Actor) -> Job:
    locked = _lock_job(job)
    if locked.held and locked.order.status in UNACCEPTED:
        raise Conflict(
            f"The order of job {locked} is on hold; accept the order to release it.", code="order_on_hold"
        )
    if locked.held:
        locked.held, locked.next_try = "", timezone.now()
        record_job(job=locked, previous=locked.state, actor=actor, note="Released.")
        _release_others(locked, actor)
    return locked


def _lock_job(job: Job) -> Job:
    locked = lock_with_order(job)
    refuse_ended(locked.order)
    return locked


def _try_at_once(job: Job) -> str:
    job.held, job.failing_since = "", None
    if job.gang_sheet_id is None:
        job.next_try = timezone.now()
        return "Tried again at once."
    if (sheet := make_sheet_due(job)) is None:
        raise Conflict(
            f"Gang sheet {job.gang_sheet} of job {job} is already on its way.", code="sheet_under_way"
        )
    return f"Gang sheet {sheet} is sent now."


def _release_others(job: Job, actor: Actor) -> None:
    """Releases the jobs that wait in one order at the provider with this one: they are sent together or not at all."""
    queued = Job.objects.filter(order=job.order_id, provider_order=job.provider_order, state=JobState.QUEUED)
    held_jobs = queued.exclude(pk=job.pk).exclude(held="").filter(cancel_requested__isnull=True)
    for held_job in lock_jobs(held_jobs) if job.provider_order else ():
        held_job.held, held_job.next_try = "", timezone.now()
        record_job(job=held_job, previous=held_job.state, actor=actor, note=f"Released with {job}.")


def _refuse_while_sent(job: Job) -> None:
    """Raises Conflict while an attempt to send or cancel the job is in progress."""
    if job.attempts.filter(outcome=AttemptOutcome.UNFINISHED).exists():
        raise Conflict(f"Job {job} is being sent to {job.provider} now.", code="job_uncertain")


def _take_off_sheet(job: Job) -> None:
    """Raises Conflict if its gang sheet may be at the provider."""
    sheet = job.gang_sheet
    if sheet is not None and not remove_from_sheet(job=job):
        raise Conflict(
            f"Gang sheet {sheet} of job {job} is being sent, or may be at {sheet.provider}; cancel the job.",
            code="sheet_under_way",
        )
