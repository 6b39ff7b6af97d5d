"""Codes read on the shop floor: printed, cut, packed, or pieces missing, which are printed again."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from fulfillment.core.errors import Conflict, Invalid
from production.dispatch.services.queueing import follow_jobs
from production.dispatch.services.restarting import lock_with_order, refuse_ended, start_again
from production.jobs.models import AT_PROVIDER, RANK, Job, JobState, Scan, ScanStep
from production.jobs.services.recording import make_due, record_job
from stores.orders.services.changes import Actor

# A scanner that was offline for longer has a wrong clock.
OLDEST = timedelta(days=1)


@transaction.atomic
def record_scan(
    *, job: Job, scan_id: UUID, step: ScanStep, pieces: int | None, at: datetime | None, actor: Actor
) -> Scan:
    """Records a scan once, however often it is sent; a step that the job has passed is recorded once as well.

    Missing pieces start the job again under a new number: they are printed from the kept file.
    """
    locked = lock_with_order(job)
    earlier = Scan.objects.filter(pk=scan_id).first() or _earlier_scan(locked, step)
    if earlier is not None and earlier.job_id == locked.pk:
        return earlier
    if earlier is not None:
        raise Conflict("This scan was for another job.", code="scan_of_another_job")
    _refuse_idle(locked)
    now = timezone.now()
    at = min(max(at or now, now - OLDEST), now)
    scan = Scan(pk=scan_id, job=locked, number=locked.number, step=step, at=at)
    if step == ScanStep.MISSING:
        scan.pieces = _reprint_job(locked, pieces, actor)
    else:
        _advance_job(locked, step, actor)
    scan.save(force_insert=True)
    return scan


def _earlier_scan(job: Job, step: ScanStep) -> Scan | None:
    return (
        Scan.objects.filter(job=job, number=job.number, step=step).first()
        if step != ScanStep.MISSING
        else None
    )


def _refuse_idle(job: Job) -> None:
    """A cancelled job must not be printed, and one that was not sent has no sheets yet."""
    refuse_ended(job.order)
    if job.cancel_requested or job.state not in AT_PROVIDER:
        state = "being cancelled" if job.cancel_requested else job.get_state_display().lower()
        raise Conflict(f"Job {job} is {state}, so it is not printed now.", code="job_not_at_provider")


def _advance_job(job: Job, step: ScanStep, actor: Actor) -> None:
    previous = job.state
    if RANK[job.state] < RANK[JobState.IN_PRODUCTION]:
        job.state = JobState.IN_PRODUCTION
    job.reported = timezone.now()
    note = f"{step.label}, scanned."
    record_job(job=job, previous=previous, actor=actor, note=note)
    follow_jobs(order=job.order, note=f"Job {job}: {note}")


def _reprint_job(job: Job, pieces: int | None, actor: Actor) -> int:
    if pieces is None or not 1 <= pieces <= job.quantity:
        message = f"Enter how many of the {job.quantity:,} pieces are missing."
        raise Invalid.at("/pieces", "pieces_invalid", message)
    previous, number = job.state, job.number
    start_again(job, job.provider)
    make_due(job)
    job.pieces = pieces
    note = f"{pieces:,} missing of {number}, scanned. Printed again as {job}."
    record_job(job=job, previous=previous, actor=actor, note=note)
    return pieces
