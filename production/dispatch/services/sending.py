"""Works on due jobs: each exchange is recorded before it begins and completed after it.

A claim moves `next_try` ahead by a lease, and who works on a job holds a lock on its number. Jobs of a killed worker
become due again when the lease ends; jobs that are still locked are left alone.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import Enum

from django.db import transaction
from django.utils import timezone

from fulfillment.core.db.locks import lock_of_its_own
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import DomainError, TooManyRequests, Unavailable
from production.dispatch.services import provider_orders
from production.dispatch.services.choosing import (
    LEASE_SECONDS,
    SLOTS,
    WAIT_FOR_PROVIDER,
    JobSlots,
    choose_for_order,
    choose_provider,
    was_postponed,
)
from production.gang_sheets.services.building import uses_gang_sheets
from production.gang_sheets.services.members import add_to_sheet, remove_from_sheet
from production.interface import AdapterJob, ProviderRefused, ProviderUnavailable
from production.jobs.models import Attempt, AttemptKind, Job, JobState
from production.jobs.services import outcomes
from production.jobs.services.adapter_jobs import build_adapter_job
from production.jobs.services.recording import close_interrupted_attempts, lock_job, record_each
from production.providers.selectors import adapter_of

JOB_LOCKS = 0x10B << 44
# As a subquery the due rows could be chosen again for each row that is compared with them: more than the limit.
CLAIM = """
WITH due AS MATERIALIZED (
    SELECT id FROM production_job WHERE next_try <= (SELECT clock_timestamp())
    AND (provider_id IS NULL OR provider_id <> ALL(%s)) AND id <> ALL(%s)
    ORDER BY next_try LIMIT %s FOR UPDATE SKIP LOCKED
)
UPDATE production_job job SET next_try = clock_timestamp() + make_interval(secs => %s)
FROM due WHERE job.id = due.id RETURNING job.id
"""


class SendingMode(Enum):
    """How a due job is sent that is not sent alone."""

    NOT_NOW = "not now"
    SHEET = "on a gang sheet"
    ORDER = "with other jobs of its order"


def claim_due_jobs(*, limit: int, under_way: Collection[int] = ()) -> Sequence[int]:
    """Claims the longest waiting jobs, but none of a provider at its limit of concurrent jobs."""
    values = [list(SLOTS.full()), list(under_way), limit, LEASE_SECONDS]
    return [key for (key,) in fetch_rows(CLAIM, values)]


def work_on_job(*, job_pk: int) -> bool:
    """Submits or cancels the job, whichever is due; False if neither is."""
    with lock_of_its_own(JOB_LOCKS | job_pk) as is_ours:
        if not is_ours or not choose_for_order(job_pk=job_pk):
            return False
        with SLOTS.of_one_job() as slots:
            begun = _begin_attempt(job_pk, slots)
            if begun is SendingMode.ORDER:
                return _work_on_order(job_pk, slots)
            if begun is SendingMode.SHEET and not add_to_sheet(job_pk=job_pk):
                begun = _begin_attempt(job_pk, slots, is_alone=True)
            if isinstance(begun, SendingMode):
                return False
            _exchange_with_provider([begun])
            return True


def _work_on_order(job_pk: int, slots: JobSlots) -> bool:
    order_number = Job.objects.values_list("order__number", flat=True).get(pk=job_pk)
    with lock_of_its_own(provider_orders.PROVIDER_ORDER_LOCKS | order_number) as is_ours:
        is_due = is_ours and not was_postponed(job_pk)
        attempts = provider_orders.begin_provider_order(job_pk, slots) if is_due else []
        if attempts:
            _exchange_with_provider(attempts)
        return bool(attempts)


def _exchange_with_provider(attempts: Sequence[Attempt]) -> None:
    """Runs the exchange outside of transactions, because it may take long: of a job, or of jobs that go together."""
    first = attempts[0]
    try:
        adapter = adapter_of(first.provider)
        if first.kind == AttemptKind.CANCEL:
            number = first.job.provider_order or first.number
            job = replace(build_adapter_job(first.job, has_content=False), number=number)
            exchange = adapter.cancel(job, first.job.reference)
            provider_orders.record_order_cancelled(attempts=attempts, exchange=exchange)
            return
        adapter_jobs, unusable = _build_jobs(attempts)
        if unusable:
            provider_orders.record_order_unusable(attempts=attempts, messages=unusable)
            return
        submitted = adapter.submit(_merge_jobs(first.job, adapter_jobs))
        note = (
            f"In one order: {', '.join(attempt.number for attempt in attempts)}." if len(attempts) > 1 else ""
        )
        record_each(attempts, outcomes.record_submitted, submitted=submitted, note=note)
    except ProviderRefused as error:
        provider_orders.record_order_refused(attempts=attempts, error=error)
    except ProviderUnavailable as error:
        record_each(attempts, outcomes.record_unavailable, error=error)
    except (Unavailable, TooManyRequests) as error:
        # A part of the service is unavailable, such as its file storage; the provider is not at fault.
        record_each(attempts, outcomes.record_postponed, error=error)
    except (DomainError, ValueError) as error:
        # Nothing was sent, because of an unusable file, setting or secret.
        record_each(attempts, outcomes.record_unusable, message=str(error))


def _build_jobs(attempts: Sequence[Attempt]) -> tuple[list[AdapterJob], dict[int, str]]:
    """The jobs for the adapter, and why some cannot be sent, by their keys."""
    adapter_jobs: list[AdapterJob] = []
    unusable: dict[int, str] = {}
    for attempt in attempts:
        try:
            adapter_jobs.append(build_adapter_job(attempt.job))
        except (Unavailable, TooManyRequests):
            raise
        except (DomainError, ValueError) as error:
            unusable[attempt.job_id] = str(error)
    return adapter_jobs, unusable


def _merge_jobs(first: Job, jobs: Sequence[AdapterJob]) -> AdapterJob:
    return replace(jobs[0], number=first.provider_order, together=jobs) if first.provider_order else jobs[0]


@transaction.atomic
def _begin_attempt(job_pk: int, slots: JobSlots, *, is_alone: bool = False) -> Attempt | SendingMode:
    """Records the start of an attempt, unless the job is not to be sent alone now."""
    job = lock_job(job_pk)
    if job.provider_order:
        return SendingMode.ORDER
    if not _is_ready(job):
        return SendingMode.NOT_NOW
    if provider_orders.joins_provider_order(job):
        job.save(update_fields=["is_uncertain"])
        return SendingMode.ORDER
    if not (job.cancel_requested or is_alone or job.is_uncertain) and uses_gang_sheets(job.provider):
        job.save(update_fields=["is_uncertain"])
        return SendingMode.SHEET
    if job.provider_id is None or not slots.take(job.provider_id):
        # It stays due, and is claimed again once the provider has a free slot.
        job.next_try = timezone.now()
        job.save(update_fields=["next_try", "is_uncertain"])
        return SendingMode.NOT_NOW
    job.tries += 1
    job.save(update_fields=["tries", "is_uncertain"])
    attempt = Attempt(
        job=job,
        number=job.number,
        provider_id=job.provider_id,
        kind=AttemptKind.CANCEL if job.cancel_requested else AttemptKind.SUBMIT,
        started=timezone.now(),
    )
    attempt.save()
    return attempt


def _is_ready(job: Job) -> bool:
    """Whether the locked job is to be sent, or cancelled at its provider, now; closes an interrupted attempt."""
    if job.next_try is None or (job.held and not job.cancel_requested):
        return False
    if job.gang_sheet_id is not None:
        _cancel_member(job)
        return False
    close_interrupted_attempts(job)
    if job.cancel_requested:
        if job.provider is None:
            outcomes.cancel_locked(job, note="No provider had it.")
        return job.provider is not None
    if job.state != JobState.QUEUED:
        job.next_try = None
        job.save(update_fields=["next_try", "is_uncertain"])
        return False
    return choose_provider(job=job)


def _cancel_member(job: Job) -> None:
    """The sheet sends its members and closes their interrupted attempts; alone a member is only cancelled."""
    if not job.cancel_requested:
        job.next_try = None
        job.save(update_fields=["next_try"])
    elif job.state != JobState.QUEUED:
        message = f"It is on gang sheet {job.gang_sheet}, which {job.provider} has; stop it there."
        outcomes.record_refused_cancellation(job, message)
    elif remove_from_sheet(job=job):
        outcomes.cancel_locked(job, note="It was taken off its gang sheet before that was sent.")
    else:
        job.next_try = timezone.now() + WAIT_FOR_PROVIDER
        job.save(update_fields=["next_try"])
