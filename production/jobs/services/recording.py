"""Saves changes of locked jobs with their history."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from production.jobs.models import (
    UNREAD,
    Attempt,
    AttemptKind,
    AttemptOutcome,
    HoldReason,
    Job,
    JobHistory,
    JobState,
)
from production.providers.models import Provider
from stores.orders.models.status import UNACCEPTED
from stores.orders.services.changes import SYSTEM, Actor

MAX_FAILURES = 10
# What changes with the order of a job.
OF_ORDER = (
    "state",
    "message",
    "held",
    "next_try",
    "cancel_requested",
    "failing_since",
    "is_uncertain",
    "gang_sheet_id",
    "updated",
)


def record_job(*, job: Job, previous: str, actor: Actor = SYSTEM, note: str = "") -> None:
    """Saves the job, with a history entry if the state changed or there is a note."""
    job.updated = timezone.now()
    job.save()
    if previous != job.state or note:
        new_history_entry(job, previous=previous, actor=actor, note=note).save()


def record_jobs(
    changes: Sequence[tuple[Job, str, str]], *, actor: Actor = SYSTEM, fields: Sequence[str] = OF_ORDER
) -> None:
    """Saves the jobs of an order, each with its previous state and a note, in few statements: its store is locked."""
    now = timezone.now()
    keys_by_values: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for job, _, _ in changes:
        job.updated = now
        keys_by_values[tuple(getattr(job, name) for name in fields)].append(job.pk)
    for values, keys in keys_by_values.items():
        Job.objects.filter(pk__in=keys).update(**dict(zip(fields, values, strict=True)))
    JobHistory.objects.bulk_create(
        new_history_entry(job, previous=previous, actor=actor, note=note) for job, previous, note in changes
    )


@transaction.atomic
def record_each(attempts: Sequence[Attempt], record: Callable[..., None], **values: Any) -> None:
    """Records the same outcome of several attempts, all or none."""
    for attempt in attempts:
        record(attempt=attempt, **values)


def new_history_entry(job: Job, *, previous: str, actor: Actor = SYSTEM, note: str = "") -> JobHistory:
    """The entry of a change, unsaved."""
    return JobHistory(
        job=job,
        previous_state=previous,
        state=job.state,
        timestamp=job.updated,
        actor_kind=actor.kind,
        actor_id=actor.user_id,
        note=note[:1000],
    )


def failed_often(jobs: Iterable[Job]) -> set[int]:
    """The keys of the failed jobs that failed too often since they were sent."""
    failed = [job for job in jobs if job.state == JobState.FAILED]
    since = Coalesce("job__sent", "job__created")
    failures = JobHistory.objects.filter(job__in=failed, state=JobState.FAILED, timestamp__gte=since)
    counts = failures.order_by().values("job").annotate(count=Count("pk")).filter(count__gte=MAX_FAILURES)
    return set(counts.values_list("job", flat=True))


def lock_job(job_pk: int) -> Job:
    job = (
        Job.objects.select_for_update(of=("self",), no_key=True)
        .select_related("provider", "order", "store")
        .get(pk=job_pk)
    )
    if job.provider_id is not None and job.provider is None:
        # It changed while the lock was waited for, and PostgreSQL joins no row that it had not read before.
        job.provider = Provider.objects.get(pk=job.provider_id)
    return job


def lock_jobs(jobs: QuerySet[Job]) -> list[Job]:
    """Locks in key order, so that two transactions do not deadlock."""
    locked = jobs.select_related("provider", "order__store", "item__product").defer(*UNREAD)
    return list(locked.order_by("pk").select_for_update(of=("self",), no_key=True))


def make_due(job: Job) -> None:
    """Makes a locked queued job due now, unsaved, unless it is held.

    It is held if its order is: when the order was put on hold, a provider may have had the job.
    """
    if job.order.status in UNACCEPTED and not job.held:
        job.held = HoldReason.ORDER
    job.next_try = None if job.held and not job.cancel_requested else timezone.now()


def fail_job(*, job: Job, message: str) -> None:
    """Marks a locked job as failed, without saving it; a person then decides, also if it was to be cancelled."""
    job.state, job.message = JobState.FAILED, message[:1000]
    job.next_try = job.cancel_requested = None


def close_interrupted_attempts(job: Job) -> bool:
    """Closes attempts of a killed worker, whose requests the provider may have received.

    Changes a locked job without saving it; returns whether a submission was among the attempts.
    """
    was_sending = False
    for attempt in Attempt.objects.filter(job=job, outcome=AttemptOutcome.UNFINISHED):
        attempt.outcome, attempt.finished = AttemptOutcome.INTERRUPTED, timezone.now()
        attempt.message = "The worker ended before the response was recorded."
        attempt.save(update_fields=["outcome", "message", "finished"])
        was_sending = was_sending or attempt.kind == AttemptKind.SUBMIT
    job.is_uncertain = job.is_uncertain or was_sending
    return was_sending
