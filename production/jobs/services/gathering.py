"""How jobs come onto a gang sheet and leave it again.

Locks are taken in the order: order, job, gang sheet. Who holds the sheet's row fixes who is on it.
"""

from django.db import IntegrityError, transaction
from django.utils import timezone

from fulfillment.core.errors import Conflict
from production.jobs.models import Attempt, AttemptOutcome, GangSheet, Job, JobState, SheetState
from production.jobs.selectors.gang_requests import Candidate, candidate_of
from production.jobs.services.recording import lock_job, lock_jobs, record_job
from stores.orders.services.transitions import Actor

# One sheet job: what is built in memory at once, and what a ticket names.
MAX_JOBS = 100
MAX_BYTES = 150 * 1024 * 1024


def gather_job(*, job_pk: int) -> bool:
    """Outside of any transaction, for it reads the print file. False where the job goes alone."""
    job = Job.objects.select_related("provider", "order", "store", "item__product").get(pk=job_pk)
    candidate = candidate_of(job)
    if candidate is None:
        return False
    _put(job, candidate)
    return True


@transaction.atomic
def _put(job: Job, candidate: Candidate) -> None:
    """Nothing where the job has changed since: it is looked at again when its lease is over."""
    locked = lock_job(job.pk)
    if (
        locked.state != JobState.QUEUED
        or locked.held
        or locked.cancel_requested
        or locked.gang_sheet_id
        or locked.provider_id != job.provider_id
    ):
        return
    sheet = _collecting(job, candidate)
    locked.gang_sheet, locked.next_try = sheet, None
    sheet.pieces += candidate.pieces
    others = Job.objects.filter(gang_sheet=sheet)
    is_full = sheet.pieces >= candidate.most_pieces or others.count() + 1 >= MAX_JOBS
    if is_full or _bytes(sheet) + job.item.print_bytes >= MAX_BYTES:
        close_sheet(sheet)
    sheet.save(update_fields=["pieces", "state", "next_try"])
    locked.message = f"On gang sheet {sheet}."
    record_job(locked, previous=locked.state, note=f"Waits on gang sheet {sheet}.")


def _collecting(job: Job, candidate: Candidate) -> GangSheet:
    """The locked sheet that collects jobs of this kind."""
    wanted = {
        "provider_id": job.provider_id,
        "product_id": job.item.product_id,
        "kind": candidate.kind,
        "state": SheetState.COLLECTING,
    }
    open_sheets = GangSheet.objects.select_for_update(of=("self",), no_key=True).filter(**wanted)
    if (found := open_sheets.first()) is not None:
        return found
    now = timezone.now()
    try:
        with transaction.atomic():
            return GangSheet.objects.create(
                **wanted, store_id=job.store_id, created=now, next_try=now + candidate.wait
            )
    except IntegrityError:
        # Another worker was first.
        return open_sheets.get()


def _bytes(sheet: GangSheet) -> int:
    return sum(Job.objects.filter(gang_sheet=sheet).values_list("item__print_bytes", flat=True))


def close_sheet(sheet: GangSheet) -> None:
    """On a locked sheet, without saving: no job comes onto it any more, and a worker sends it."""
    sheet.state, sheet.next_try = SheetState.PLANNED, timezone.now()


def hasten_sheet(job: Job) -> GangSheet | None:
    """The sheet of the locked job goes now, with what is on it; None where it is on its way already."""
    sheet = lock_sheet(job.gang_sheet_id)
    if sheet is None or sheet.state not in (SheetState.COLLECTING, SheetState.PLANNED):
        return None
    close_sheet(sheet)
    sheet.save(update_fields=["state", "next_try"])
    return sheet


@transaction.atomic
def send_sheet_now(*, sheet: GangSheet, actor: Actor) -> None:
    """With the jobs that are on it; raises Conflict where it is on its way already."""
    jobs = lock_jobs(Job.objects.filter(gang_sheet=sheet))
    locked = lock_sheet(sheet.pk)
    if locked is None or locked.state not in (SheetState.COLLECTING, SheetState.PLANNED) or not jobs:
        raise Conflict(f"Gang sheet {sheet} does not wait any more.", code="sheet_not_waiting")
    close_sheet(locked)
    locked.save(update_fields=["state", "next_try"])
    for job in jobs:
        record_job(job, previous=job.state, actor=actor, note=f"Gang sheet {locked} goes at once.")


def leave_sheet(job: Job) -> bool:
    """Takes the locked job off its sheet, unsaved; False where the provider has the sheet, or may have it."""
    sheet = lock_sheet(job.gang_sheet_id)
    if sheet is None:
        job.gang_sheet = None
        return True
    is_under_way = Attempt.objects.filter(job=job, outcome=AttemptOutcome.UNFINISHED).exists()
    if sheet.state == SheetState.SENT or sheet.is_uncertain or is_under_way:
        return False
    others = Job.objects.filter(gang_sheet=sheet).exclude(pk=job.pk)
    sheet.pieces = max(sheet.pieces - job.item.quantity, 0)
    if sheet.state == SheetState.PLANNED:
        # What was prepared under the number before had this job on it.
        sheet.generation += 1
    if not others.exists():
        sheet.state, sheet.next_try = SheetState.CANCELLED, None
    sheet.save(update_fields=["pieces", "generation", "state", "next_try"])
    job.gang_sheet, job.message = None, ""
    return True


def lock_sheet(sheet_pk: int | None) -> GangSheet | None:
    if sheet_pk is None:
        return None
    locked = GangSheet.objects.select_for_update(of=("self",), no_key=True).select_related(
        "provider", "product"
    )
    return locked.filter(pk=sheet_pk).first()
