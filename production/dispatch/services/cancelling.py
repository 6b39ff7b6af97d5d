"""Cancels locked jobs, here or at their providers."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from production.gang_sheets.services.members import remove_from_sheets
from production.jobs.models import Job, JobState
from production.jobs.services.recording import record_jobs
from stores.orders.services.changes import SYSTEM, Actor


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
