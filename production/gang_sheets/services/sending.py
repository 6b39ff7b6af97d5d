"""Work on gang sheets that are due: their members are fixed, and each sheet is sent like one job.

Crash-safe by the same means as a job: the plan follows from the members alone, the provider knows the sheet by its
number, and each exchange is written for every member before it begins.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from fulfillment.core.db.locks import lock_of_its_own
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import DomainError, TooManyRequests, Unavailable
from printing.imposition import Plan
from production.gang_sheets.models import GangSheet, SheetState
from production.gang_sheets.services.building import (
    BuiltSheet,
    build_sheet,
    sheet_values,
    uses_gang_sheets,
)
from production.gang_sheets.services.members import lock_sheet
from production.interface import ProviderRefused, ProviderUnavailable, Submitted
from production.jobs.models import Attempt, AttemptKind, Job, JobState
from production.jobs.selectors import excluded_providers
from production.jobs.services import outcomes
from production.jobs.services.recording import (
    close_interrupted_attempts,
    lock_jobs,
    make_due,
    record_each,
    record_job,
)
from production.providers.selectors import adapter_of, has_failed_long, is_down
from production.routing.selectors import Routing, item_facts
from stores.orders.models import Order
from stores.orders.models.status import UNACCEPTED

LEASE_SECONDS = 30
SHEET_LOCKS = 0x10D << 44
WAIT_AFTER_FAULT = timedelta(seconds=15)
CLAIM = """
WITH due AS MATERIALIZED (
    SELECT id FROM production_gangsheet one WHERE next_try <= (SELECT clock_timestamp())
    AND NOT EXISTS (
        SELECT FROM production_gangsheet other WHERE other.provider_id = one.provider_id
        AND other.next_try IS NOT NULL
        AND (other.id = ANY(%s) OR (other.next_try, other.id) < (one.next_try, one.id))
    )
    ORDER BY next_try LIMIT %s FOR UPDATE SKIP LOCKED
)
UPDATE production_gangsheet sheet SET next_try = clock_timestamp() + make_interval(secs => %s)
FROM due WHERE sheet.id = due.id RETURNING sheet.id
"""


def claim_due_sheets(*, limit: int, under_way: Collection[int] = ()) -> Sequence[int]:
    """Claims the longest waiting sheet of each provider that none is under way to: a slow one holds up its own."""
    return [key for (key,) in fetch_rows(CLAIM, [list(under_way), limit, LEASE_SECONDS])]


def work_on_sheet(*, sheet_pk: int) -> bool:
    """Sends the sheet; False where there was nothing to do, or its members have changed meanwhile."""
    with lock_of_its_own(SHEET_LOCKS | sheet_pk) as is_ours:
        if not is_ours or (planned := _plan_sheet(sheet_pk)) is None:
            return False
        sheet, jobs = planned
        try:
            built = build_sheet(sheet, jobs)
        except (Unavailable, TooManyRequests) as error:
            postpone_sheet(sheet_pk=sheet_pk, message=error.message)
            return False
        if built.job is None or built.plan is None:
            _remove_unusable(sheet_pk, built.unusable)
            return False
        attempts = _begin_attempts(sheet, [job.pk for job in jobs], built.plan)
        if attempts:
            _exchange_with_provider(sheet, attempts, built)
        return bool(attempts)


@transaction.atomic
def _plan_sheet(sheet_pk: int) -> tuple[GangSheet, list[Job]] | None:
    """Fixes the members of the sheet; jobs that another provider should print leave it."""
    jobs = _lock_with_orders(Job.objects.filter(gang_sheet=sheet_pk))
    sheet = lock_sheet(sheet_pk)
    if sheet is None or sheet.state not in (SheetState.COLLECTING, SheetState.PLANNED):
        GangSheet.objects.filter(pk=sheet_pk, next_try__isnull=False).update(next_try=None)
        return None
    if Job.objects.filter(gang_sheet=sheet).count() != len(jobs):
        return None  # a job was added meanwhile; the next run plans it
    for job in jobs:
        if close_interrupted_attempts(job):
            sheet.is_uncertain = True
            job.save(update_fields=["is_uncertain"])
    if not sheet.is_uncertain:
        jobs = _keep_remaining(sheet, jobs)
    if not jobs:
        sheet.state, sheet.next_try = SheetState.CANCELLED, None
    elif sheet.state == SheetState.COLLECTING or not sheet.sheet:
        sheet.state, sheet.sheet = SheetState.PLANNED, sheet_values(sheet.provider)
    sheet.save()
    return (sheet, jobs) if jobs else None


def _keep_remaining(sheet: GangSheet, jobs: list[Job]) -> list[Job]:
    """Releases jobs, and returns those that stay on the sheet.

    Jobs that were stopped leave it. If the provider is down, those that another one can print leave as well; if it is
    disabled, all do.
    """
    stopped = [
        job
        for job in jobs
        if job.state == JobState.QUEUED and (job.cancel_requested or job.order.status in UNACCEPTED)
    ]
    _release_members(sheet, dict.fromkeys(stopped, f"Left gang sheet {sheet}: it was stopped."))
    jobs, provider = [job for job in jobs if job not in stopped], sheet.provider
    is_out_of_use = not provider.is_enabled or not (sheet.sheet or uses_gang_sheets(provider))
    is_failing = is_down(provider) or has_failed_long(sheet.failing_since)
    is_moving = is_out_of_use or (sheet.tries > 0 and is_failing)
    if not is_moving:
        return jobs
    routing = Routing(timezone.now())
    leaving = [job for job in jobs if is_out_of_use or _has_other_provider(routing, job)]
    note = f"Left gang sheet {sheet}: {provider} is down or disabled."
    _release_members(sheet, dict.fromkeys(leaving, note))
    return [job for job in jobs if job not in leaving]


def _has_other_provider(routing: Routing, job: Job) -> bool:
    decision = routing.decide(item_facts(job.order, job.item), excluded=excluded_providers(job))
    return decision.chosen is not None


def _release_members(sheet: GangSheet, notes: Mapping[Job, str]) -> None:
    """Routes locked jobs of the sheet again, each with a note; the sheet is changed, unsaved."""
    for job, note in notes.items():
        job.gang_sheet, job.message = None, ""
        make_due(job)
        record_job(job=job, previous=job.state, note=note)
        sheet.pieces = max(sheet.pieces - job.quantity, 0)
    if notes:
        sheet.generation += 1


@transaction.atomic
def _remove_unusable(sheet_pk: int, unusable: Mapping[int, str]) -> None:
    """Jobs whose files cannot be imposed are sent alone, which records the reason; the others continue at once."""
    jobs = _lock_with_orders(Job.objects.filter(gang_sheet=sheet_pk, pk__in=list(unusable)))
    sheet = lock_sheet(sheet_pk)
    if sheet is None:
        return
    _release_members(sheet, {job: f"Left gang sheet {sheet}: {unusable[job.pk]}" for job in jobs})
    sheet.next_try = timezone.now()
    sheet.save(update_fields=["generation", "pieces", "next_try"])


@transaction.atomic
def _begin_attempts(planned: GangSheet, keys: Sequence[int], plan: Plan) -> list[Attempt]:
    """Records the start for each member; empty if a member has left since the sheet was planned."""
    jobs = lock_jobs(Job.objects.filter(gang_sheet=planned.pk))
    sheet = lock_sheet(planned.pk)
    if sheet is None or sheet.number != planned.number or [job.pk for job in jobs] != list(keys):
        GangSheet.objects.filter(pk=planned.pk).update(next_try=timezone.now())
        return []
    now = timezone.now()
    sheet.tries += 1
    sheet.waste, sheet.layouts, sheet.printed_sheets = plan.waste, len(plan.sheets), plan.printed
    sheet.save(update_fields=["tries", "waste", "layouts", "printed_sheets"])
    for job in jobs:
        job.tries += 1
        job.save(update_fields=["tries"])
    return Attempt.objects.bulk_create(
        Attempt(job=job, number=job.number, provider=sheet.provider, kind=AttemptKind.SUBMIT, started=now)
        for job in jobs
    )


def _exchange_with_provider(sheet: GangSheet, attempts: Sequence[Attempt], built: BuiltSheet) -> None:
    """Outside of any transaction: it may take long."""
    try:
        if built.job is None:
            raise ValueError("Nothing is on the sheet.")
        submitted = adapter_of(sheet.provider).submit(built.job)
    except ProviderRefused as error:
        if error.concerns_all:
            unavailable = ProviderUnavailable(str(error), error.exchange, is_unsent=True)
            _record_unavailable(sheet, attempts, unavailable)
        else:
            reason = f"{sheet.provider} refused it: {error}"
            _record_dissolved(sheet, attempts, reason, outcomes.record_refused, error=error)
    except ProviderUnavailable as error:
        _record_unavailable(sheet, attempts, error)
    except (DomainError, ValueError) as error:
        _record_dissolved(sheet, attempts, str(error), outcomes.record_unusable, message=str(error))
    else:
        _record_sent(sheet, attempts, submitted)


@transaction.atomic
def _record_sent(sheet: GangSheet, attempts: Sequence[Attempt], submitted: Submitted) -> None:
    locked = _lock_sheet(sheet)
    note = f"On gang sheet {sheet}."
    record_each(attempts, outcomes.record_submitted, submitted=submitted, note=note)
    locked.state, locked.next_try, locked.sent = SheetState.SENT, None, timezone.now()
    locked.message, locked.is_uncertain, locked.failing_since = "", False, None
    locked.save()


@transaction.atomic
def _record_dissolved(
    sheet: GangSheet, attempts: Sequence[Attempt], reason: str, record: Callable[..., None], **values: Any
) -> None:
    """Each job leaves the sheet; `record` routes it to the next provider of its rule, or fails it."""
    locked = _lock_sheet(sheet)
    Job.objects.filter(gang_sheet=sheet).update(gang_sheet=None)
    record_each(attempts, record, **values)
    _dissolve_sheet(locked, reason)


@transaction.atomic
def _record_unavailable(sheet: GangSheet, attempts: Sequence[Attempt], error: ProviderUnavailable) -> None:
    """The members wait with their sheet; all of them fail together after a day."""
    locked = _lock_sheet(sheet)
    record_each(attempts, outcomes.record_unavailable, error=error)
    locked.is_uncertain = locked.is_uncertain or not error.is_unsent
    queued = Job.objects.filter(gang_sheet=sheet, state=JobState.QUEUED)
    waiting = queued.filter(cancel_requested__isnull=True)
    # A sheet that the provider may have is sent until it answers, also if all jobs are to be cancelled.
    tried = queued if locked.is_uncertain else waiting
    times = [time for time in tried.values_list("next_try", flat=True) if time]
    if not times:
        _dissolve_sheet(locked, str(error))
        return
    waiting.update(next_try=None)
    locked.next_try, locked.message = min(times), str(error)[:1000]
    locked.failing_since = locked.failing_since or timezone.now()
    locked.save()


def record_sheet_fault(*, sheet_pk: int) -> None:
    """Postpones the sheet after a logged error of the service; a retry closes its open attempts."""
    postpone_sheet(sheet_pk=sheet_pk, message=outcomes.INTERNAL_ERROR)


@transaction.atomic
def postpone_sheet(*, sheet_pk: int, message: str) -> None:
    waiting = GangSheet.objects.filter(pk=sheet_pk, next_try__isnull=False)
    waiting.update(next_try=timezone.now() + WAIT_AFTER_FAULT, message=message[:1000])


def _lock_sheet(sheet: GangSheet) -> GangSheet:
    _lock_with_orders(Job.objects.filter(gang_sheet=sheet))
    return GangSheet.objects.select_for_update(of=("self",), no_key=True).get(pk=sheet.pk)


def _lock_with_orders(jobs: QuerySet[Job]) -> list[Job]:
    """Locks the orders first, then their jobs, as all other transactions do: whether an order is on hold then stays."""
    orders = Order.objects.filter(pk__in=jobs.values("order")).order_by("pk")
    list(orders.select_for_update(no_key=True).values_list("pk", flat=True))
    return lock_jobs(jobs)


def _dissolve_sheet(sheet: GangSheet, message: str) -> None:
    sheet.state, sheet.next_try, sheet.message = SheetState.CANCELLED, None, message[:1000]
    sheet.save()
