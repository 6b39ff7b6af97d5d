"""Actions on jobs: resend, reassign, hold, release, cancel."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from fulfillment.core.errors import Conflict
from production.dispatch.services.choosing import count_jobs
from production.gang_sheets.services.members import make_sheet_due, remove_from_sheet, remove_from_sheets
from production.jobs.models import AT_PROVIDER, AttemptOutcome, HoldReason, Job, JobState
from production.jobs.services.recording import SYSTEM, lock_job, lock_jobs, record_job, record_jobs
from production.providers.models import Provider
from stores.orders.models import Order
from stores.orders.models.status import TERMINAL_OR_SHIPPED
from stores.orders.services.changes import Actor, lock_order


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
    """Assigns a job to another provider; a submitted job must be cancelled first, and a held one stays held."""
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
        _require_off_sheet(locked)
    if locked.attempts.filter(outcome=AttemptOutcome.UNFINISHED).exists():
        raise Conflict(f"Job {locked} is being sent to {previous_provider} now.", code="job_uncertain")
    hold, now = locked.held, timezone.now()
    if locked.tries or locked.state != JobState.QUEUED:
        start_again(locked, provider)
    locked.provider, locked.next_try, locked.held = provider, None if hold else now, hold
    count_jobs({(provider.pk, None): 1}, moment=now)
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


def request_cancellations(jobs: Sequence[Job], *, actor: Actor = SYSTEM, note: str) -> None:
    """Cancels locked jobs of an order at once if no provider can have them; otherwise a worker cancels them there."""
    queued = {job.pk: job for job in jobs if job.state == JobState.QUEUED}
    on_sheets = {pk for pk, job in queued.items() if job.gang_sheet_id is not None}
    remove_from_sheets(queued.values())
    now, changes = timezone.now(), []
    for job in jobs:
        previous = job.state
        note_of_job = _mark_cancelled(job, note, now, was_on_sheet=job.pk in on_sheets)
        if note_of_job is not None:
            changes.append((job, previous, note_of_job))
    record_jobs(changes, actor=actor)


def _mark_cancelled(job: Job, note: str, now: datetime, *, was_on_sheet: bool) -> str | None:
    """Changes the job, unsaved; returns the note of its history, or None if that was requested before."""
    has_left = was_on_sheet and job.gang_sheet_id is None and not job.is_uncertain
    is_untried = job.state == JobState.QUEUED and not job.tries and not was_on_sheet
    if job.state == JobState.FAILED or has_left or is_untried:
        job.state, job.next_try, job.held = JobState.CANCELLED, None, ""
    elif job.cancel_requested is None:
        job.cancel_requested = job.next_try = now
        note = f"{note} To be cancelled at {job.provider}.".strip()
    else:
        return None
    return note


@transaction.atomic
def hold_job(*, job: Job, actor: Actor) -> Job:
    locked = lock_with_order(job)
    if locked.state != JobState.QUEUED or locked.cancel_requested:
        raise Conflict(
            f"Job {locked} is {locked.get_state_display()}: only queued jobs can be held.",
            code="job_not_queued",
        )
    _require_off_sheet(locked)
    if locked.provider_order:
        raise Conflict(
            f"Job {locked} is being sent in one order with others, or may be at {locked.provider}; cancel it.",
            code="job_uncertain",
        )
    if locked.held != HoldReason.MANUAL:
        locked.held, locked.next_try = HoldReason.MANUAL, None
        record_job(job=locked, previous=locked.state, actor=actor, note="Held by hand.")
    return locked


@transaction.atomic
def release_job(*, job: Job, actor: Actor) -> Job:
    locked = _lock_job(job)
    if locked.held == HoldReason.ORDER:
        raise Conflict(
            f"The order of job {locked} is on hold; accept the order to release it.", code="order_on_hold"
        )
    if locked.held:
        locked.held, locked.next_try = "", timezone.now()
        record_job(job=locked, previous=locked.state, actor=actor, note="Released.")
        _release_others(locked, actor)
    return locked


def lock_with_order(job: Job) -> Job:
    """Locks the order before its job, in the same order as changes of orders do."""
    order = lock_order(job.order, ())
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


def _require_off_sheet(job: Job) -> None:
    """Takes it off its gang sheet."""
    sheet = job.gang_sheet
    if sheet is not None and not remove_from_sheet(job=job):
        raise Conflict(
            f"Gang sheet {sheet} of job {job} is being sent, or may be at {sheet.provider}; cancel the job.",
            code="sheet_under_way",
        )


def send_without_another(job: Job) -> None:
    """Restarts a locked job whose order at the provider was cancelled there because of another job in it."""
    previous, number, hold = job.state, job.number, job.held
    start_again(job, job.provider)
    if hold:
        job.held, job.next_try = hold, None
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
