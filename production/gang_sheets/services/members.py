"""Adds jobs to a gang sheet and removes them.

Locks are taken in the order: order, job, gang sheet. Only with the row of the sheet locked may its members change.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from fulfillment.core.errors import Conflict
from production.gang_sheets.models import GangSheet, SheetState
from production.gang_sheets.services.building import SheetCandidate, candidate_of
from production.interface import MAX_JOB_BYTES, MAX_JOBS
from production.jobs.models import Attempt, AttemptOutcome, Job, JobState
from production.jobs.services.recording import lock_job, lock_jobs, record_job
from stores.orders.services.changes import Actor


def add_to_sheet(*, job_pk: int) -> bool:
    """Call it outside of any transaction, because it reads the print file. False if the job is sent alone."""
    job = Job.objects.select_related("provider", "order", "store", "item__product").get(pk=job_pk)
    candidate = candidate_of(job)
    if candidate is None:
        return False
    _add_job(job, candidate)
    return True


@transaction.atomic
def _add_job(job: Job, candidate: SheetCandidate) -> None:
    """Does nothing if the job has changed since: it is due again when its lease ends."""
    locked = lock_job(job.pk)
    if (
        locked.state != JobState.QUEUED
        or locked.held
        or locked.cancel_requested
        or locked.gang_sheet_id
        or locked.provider_id != job.provider_id
    ):
        return
    sheet = _open_sheet(job, candidate)
    if sheet.pieces and _count_bytes(sheet) + job.item.print_bytes > MAX_JOB_BYTES:
        close_sheet(sheet=sheet)
        sheet.save(update_fields=["state", "next_try"])
        sheet = _open_sheet(job, candidate)
    locked.gang_sheet, locked.next_try = sheet, None
    sheet.pieces += candidate.pieces
    other_jobs = Job.objects.filter(gang_sheet=sheet)
    is_full = sheet.pieces >= candidate.most_pieces or other_jobs.count() + 1 >= MAX_JOBS
    if is_full or _count_bytes(sheet) + job.item.print_bytes >= MAX_JOB_BYTES:
        close_sheet(sheet=sheet)
    sheet.save(update_fields=["pieces", "state", "next_try"])
    locked.message = f"On gang sheet {sheet}."
    record_job(job=locked, previous=locked.state, note=f"Waits on gang sheet {sheet}.")


def _open_sheet(job: Job, candidate: SheetCandidate) -> GangSheet:
    """The locked sheet that collects jobs of this kind."""
    of_this_kind = {
        "provider_id": job.provider_id,
        "product_id": job.item.product_id,
        "kind": candidate.kind,
        "state": SheetState.COLLECTING,
    }
    open_sheets = GangSheet.objects.select_for_update(of=("self",), no_key=True).filter(**of_this_kind)
    if (sheet := open_sheets.first()) is not None:
        return sheet
    now = timezone.now()
    try:
        with transaction.atomic():
            return GangSheet.objects.create(
                **of_this_kind, store_id=job.store_id, created=now, next_try=now + candidate.wait
            )
    except IntegrityError:
        # Another worker was first, and a third one may have closed it since.
        return open_sheets.first() or _open_sheet(job, candidate)


def _count_bytes(sheet: GangSheet) -> int:
    return sum(Job.objects.filter(gang_sheet=sheet).values_list("item__print_bytes", flat=True))


def close_sheet(*, sheet: GangSheet) -> None:
    """Closes the locked sheet, without saving it: no job is added any more, and a worker sends it."""
    sheet.state, sheet.next_try = SheetState.PLANNED, timezone.now()


def make_sheet_due(job: Job) -> GangSheet | None:
    """Makes the sheet of the locked job due now; None if it is being sent already."""
    sheet = lock_sheet(job.gang_sheet_id)
    if sheet is None or sheet.state not in (SheetState.COLLECTING, SheetState.PLANNED):
        return None
    close_sheet(sheet=sheet)
    sheet.save(update_fields=["state", "next_try"])
    return sheet


@transaction.atomic
def send_sheet_now(*, sheet: GangSheet, actor: Actor) -> None:
    """Sends the sheet with its jobs; raises Conflict if it is being sent already."""
    jobs = lock_jobs(Job.objects.filter(gang_sheet=sheet))
    locked = lock_sheet(sheet.pk)
    if locked is None or locked.state not in (SheetState.COLLECTING, SheetState.PLANNED) or not jobs:
        raise Conflict(f"Gang sheet {sheet} no longer waits.", code="sheet_not_waiting")
    close_sheet(sheet=locked)
    locked.save(update_fields=["state", "next_try"])
    for job in jobs:
        record_job(job=job, previous=job.state, actor=actor, note=f"Gang sheet {locked} is sent now.")


def remove_from_sheet(*, job: Job) -> bool:
    """Takes the locked job off its sheet, unsaved; False where the provider has the sheet, or may have it."""
    remove_from_sheets([job])
    return job.gang_sheet_id is None


def remove_from_sheets(jobs: Iterable[Job]) -> None:
    """Takes locked jobs off their sheets, unsaved; those that a provider has, or may have, stay on them."""
    jobs_by_sheet: dict[int, list[Job]] = defaultdict(list)
    for job in jobs:
        if job.gang_sheet_id is not None:
            jobs_by_sheet[job.gang_sheet_id].append(job)
    for sheet_pk in sorted(jobs_by_sheet):
        sheet = lock_sheet(sheet_pk)
        if sheet is not None and sheet.state != SheetState.SENT and not sheet.is_uncertain:
            _take_off(sheet, jobs_by_sheet[sheet_pk])


def _take_off(sheet: GangSheet, jobs: Sequence[Job]) -> None:
    attempts = Attempt.objects.filter(job__in=jobs, outcome=AttemptOutcome.UNFINISHED)
    under_way = set(attempts.values_list("job", flat=True))
    leaving = {job.pk: job for job in jobs if job.pk not in under_way}
    if not leaving:
        return
    pieces = Sum(Coalesce("pieces", "item__quantity"))
    leaving_pieces = Job.objects.filter(pk__in=leaving).aggregate(pieces=pieces)["pieces"]
    sheet.pieces = max(sheet.pieces - leaving_pieces, 0)
    if sheet.state == SheetState.PLANNED:
        # What was prepared under the number before had these jobs on it.
        sheet.generation += 1
    if not Job.objects.filter(gang_sheet=sheet).exclude(pk__in=leaving).exists():
        sheet.state, sheet.next_try = SheetState.CANCELLED, None
    sheet.save(update_fields=["pieces", "generation", "state", "next_try"])
    for job in leaving.values():
        job.gang_sheet, job.message = None, ""


def lock_sheet(sheet_pk: int | None) -> GangSheet | None:
    if sheet_pk is None:
        return None
    locked = GangSheet.objects.select_for_update(of=("self",), no_key=True).select_related(
        "provider", "product"
    )
    return locked.filter(pk=sheet_pk).first()
