"""Sends jobs of one order as one order with one shipment, at providers that take several items.

The jobs are gathered once one of them is due and the others are ready, or no longer waited for. The provider knows
them by the number of the first one (`Job.provider_order`). While it may have that order, exactly these jobs are sent
again under that number, so that a lost response loses none and doubles none. A lock on the order's number is held
during each exchange, and whoever changes several jobs locks the order before them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from production.dispatch.services.choosing import LEASE_SECONDS, JobSlots, ProviderChoices
from production.dispatch.services.restarting import send_without_another
from production.interface import MAX_JOB_BYTES, MAX_JOBS, Exchange, ProviderRefused
from production.jobs.models import OPEN, RANK, UNREAD, Attempt, AttemptKind, AttemptOutcome, Job, JobState
from production.jobs.services import outcomes
from production.jobs.services.recording import close_interrupted_attempts, lock_jobs, record_each, record_job
from production.providers.models import Provider
from production.routing.selectors import item_facts
from stores.orders.models import Order

PROVIDER_ORDER_LOCKS = 0x10E << 44
# From when the jobs were queued; one that is held for longer is sent later, as an order of its own.
WAIT_FOR_SIBLINGS = timedelta(minutes=10)
LOOK_AGAIN = timedelta(seconds=15)
UNPRINTED = (JobState.QUEUED, JobState.SENT, JobState.ACKNOWLEDGED)


def joins_provider_order(job: Job) -> bool:
    """Whether this job is sent by `begin_provider_order`, although perhaps alone."""
    if job.provider_order:
        return True
    takes_several = job.provider is not None and job.provider.takes_several_items
    return takes_several and job.order.item_count > 1 and _is_free(job)


def _is_free(job: Job) -> bool:
    """Whether no provider can have it, and nothing was decided about it."""
    is_waiting = job.state == JobState.QUEUED and job.cancel_requested is None
    return is_waiting and not (job.is_uncertain or job.provider_order or job.gang_sheet_id)


@transaction.atomic
def begin_provider_order(job_pk: int, slots: JobSlots) -> Sequence[Attempt]:
    """Records the start for each job that is sent or cancelled with this one; empty if nothing is to be done now."""
    jobs = _lock_all(job_pk)
    job = next((candidate for candidate in jobs if candidate.pk == job_pk), None)
    if job is None or job.next_try is None or job.provider_id is None or not joins_provider_order(job):
        return []
    number = job.provider_order
    members, kind = _find_members(job, jobs) if number else (_gather_jobs(job, jobs), AttemptKind.SUBMIT)
    if not number and members and members != [job]:
        # No lock is held on the other ones, which another sender leaves alone because of the number.
        number = members[0].number
    now = timezone.now()
    if members and not slots.take(job.provider_id):
        Job.objects.filter(pk__in=[member.pk for member in members]).update(next_try=now)
        return []
    for member in members:
        member.provider_order, member.tries = number, member.tries + 1
        member.next_try = now + timedelta(seconds=LEASE_SECONDS)
    Job.objects.bulk_update(members, ["provider_order", "tries", "next_try"])
    return Attempt.objects.bulk_create(
        Attempt(job=member, number=member.number, provider_id=job.provider_id, kind=kind, started=now)
        for member in members
    )


def _lock_all(job_pk: int) -> list[Job]:
    """The jobs of the order by item, except those on gang sheets, which are locked before their orders.

    They are read after the locks: a join would show rows from before.
    """
    order = (
        Order.objects.select_for_update(of=("self",), no_key=True).select_related("store").get(jobs=job_pk)
    )
    jobs = Job.objects.filter(order=order, gang_sheet__isnull=True).order_by("pk")
    locked_keys = list(jobs.select_for_update(no_key=True).values_list("pk", flat=True))
    jobs = Job.objects.filter(pk__in=locked_keys).select_related("provider", "item__product").defer(*UNREAD)
    ordered_jobs = list(jobs.order_by("item__position"))
    for job in ordered_jobs:
        job.order = order
    return ordered_jobs


def _find_members(job: Job, jobs: Sequence[Job]) -> tuple[list[Job], AttemptKind]:
    """The jobs of an order that the provider may have: those to be cancelled, or those that wait for a response."""
    members = [candidate for candidate in jobs if candidate.provider_order == job.provider_order]
    for member in members:
        if close_interrupted_attempts(member):
            member.save(update_fields=["is_uncertain"])
    leaving = [member for member in members if member.cancel_requested and member.state in OPEN]
    if leaving:
        printed = [member for member in members if RANK.get(member.state, 0) >= RANK[JobState.IN_PRODUCTION]]
        staying = [member for member in printed if member not in leaving]
        for member in leaving if staying else ():
            message = (
                f"{staying[0]}, of the same order at {member.provider}, is printed already; stop it there."
            )
            outcomes.record_refused_cancellation(member, message)
        return [] if staying or _waits_for(job, leaving) else leaving, AttemptKind.CANCEL
    if job.state != JobState.QUEUED:
        job.next_try = None
        job.save(update_fields=["next_try"])
        return [], AttemptKind.SUBMIT
    waiting = [member for member in members if member.state == JobState.QUEUED]
    return [] if _hold_with(waiting) else waiting, AttemptKind.SUBMIT


def _waits_for(job: Job, leaving: Sequence[Job]) -> bool:
    """Whether the cancellation was postponed: a job that is not cancelled does not repeat it sooner."""
    times = [member.next_try for member in leaving if member.next_try is not None]
    if job in leaving or not times or min(times) <= timezone.now():
        return False
    job.next_try = min(times)
    job.save(update_fields=["next_try"])
    return True


def _hold_with(members: Sequence[Job]) -> bool:
    """Holds all jobs if one is held: an order without that one would have its number, and it would never be sent."""
    held_job = next((member for member in members if member.held), None)
    for member in members if held_job else ():
        if held_job and not member.held:
            member.held, member.next_try = held_job.held, None
            member.message = (
                f"{held_job}, of the same order at {member.provider}, is held: both are released together."
            )
            record_job(job=member, previous=member.state, note=member.message)
    return held_job is not None


def _gather_jobs(job: Job, jobs: Sequence[Job]) -> list[Job]:
    """The jobs that leave on the same day for the same provider; empty while another one is waited for."""
    ready_jobs: list[Job] = []
    missing_jobs: list[Job] = []
    under_way = set(
        Attempt.objects.filter(job__in=jobs, outcome=AttemptOutcome.UNFINISHED).values_list("job", flat=True)
    )
    until = job.created + WAIT_FOR_SIBLINGS
    is_waiting, choices = timezone.now() < until, ProviderChoices()
    for candidate in jobs:
        if len(ready_jobs) + len(missing_jobs) == MAX_JOBS:
            break
        if candidate is job:
            ready_jobs.append(candidate)
        elif candidate.due != job.due or candidate.pk in under_way or not _is_free(candidate):
            continue
        elif _is_ready(candidate, choices) and candidate.provider_id == job.provider_id:
            ready_jobs.append(candidate)
        elif is_waiting and _may_come(candidate, job.provider, choices):
            missing_jobs.append(candidate)
    choices.save()
    if missing_jobs:
        _postpone_jobs(ready_jobs, missing_jobs, until)
        return []
    return _limit_jobs(ready_jobs)


def _postpone_jobs(ready_jobs: Sequence[Job], missing_jobs: Sequence[Job], until: datetime) -> None:
    names = ", ".join(job.number for job in missing_jobs[:5])
    minutes = int(WAIT_FOR_SIBLINGS.total_seconds() // 60)
    total = len(ready_jobs) + len(missing_jobs)
    message = f"{len(ready_jobs)} of {total} ready: waits at most {minutes} minutes for {names}."
    waiting_jobs = Job.objects.filter(pk__in=[job.pk for job in ready_jobs])
    waiting_jobs.update(message=message, next_try=min(timezone.now() + LOOK_AGAIN, until))


def _is_ready(job: Job, choices: ProviderChoices) -> bool:
    """Whether a provider could get the locked job now; it is chosen if there is none yet."""
    return not job.held and job.next_try is not None and choices.choose(job)


def _may_come(job: Job, provider: Provider | None, choices: ProviderChoices) -> bool:
    """Whether a job that is not ready may get this provider later."""
    if job.state != JobState.QUEUED or provider is None:
        return False
    if job.provider_id is not None:
        return job.provider_id == provider.pk
    decision = choices.routing.decide(item_facts(job.order, job.item), excluded=job.refused_by)
    return any(candidate.provider == provider and not candidate.obstacle for candidate in decision.candidates)


def _limit_jobs(jobs: Sequence[Job]) -> list[Job]:
    """The jobs that one request takes; the others go in the next request."""
    first_jobs: list[Job] = []
    size = 0
    for job in jobs:
        size += job.item.print_bytes
        if first_jobs and size > MAX_JOB_BYTES:
            break
        first_jobs.append(job)
    return first_jobs


@transaction.atomic
def record_order_cancelled(*, attempts: Sequence[Attempt], exchange: Exchange) -> None:
    """The provider cancels whole orders: the other jobs of this one are sent again under new numbers."""
    record_each(attempts, outcomes.record_cancelled, exchange=exchange)
    first = attempts[0].job
    if not first.provider_order:
        return
    other_jobs = Job.objects.filter(order=first.order_id, provider_order=first.provider_order, state__in=OPEN)
    for job in lock_jobs(other_jobs):
        if job.cancel_requested:
            outcomes.cancel_locked(job, note=f"Cancelled at {job.provider}.")
            continue
        send_without_another(job)


@transaction.atomic
def record_order_refused(*, attempts: Sequence[Attempt], error: ProviderRefused) -> None:
    """Refuses the jobs at fault; the others are sent again without them, unless the provider may have their order."""
    at_fault = [attempt for attempt in attempts if attempt.number in error.numbers] or attempts
    for attempt in attempts:
        is_with_others = error.concerns_all or (error.is_unsent and attempt.job.is_uncertain)
        if attempt in at_fault or is_with_others or attempt.kind == AttemptKind.CANCEL:
            outcomes.record_refused(attempt=attempt, error=error)
        else:
            outcomes.record_left_out(
                attempt=attempt, outcome=AttemptOutcome.REFUSED, message=str(error), exchange=error.exchange
            )
    if attempts[0].kind == AttemptKind.CANCEL and attempts[0].job.provider_order and not error.concerns_all:
        _fail_if_unclear(attempts)


def _fail_if_unclear(attempts: Sequence[Attempt]) -> None:
    """Fails the jobs of an order that an earlier cancellation may have ended; a later report overrides that."""
    unanswered = (AttemptOutcome.INTERRUPTED, AttemptOutcome.UNAVAILABLE)
    numbers = [attempt.number for attempt in attempts]
    cancels = Attempt.objects.filter(number__in=numbers, kind=AttemptKind.CANCEL, outcome__in=unanswered)
    if not cancels.exists():
        return
    first = attempts[0].job
    message = (
        f"{first.provider} may have cancelled the order {first.provider_order}: it refused to cancel "
        f"{first} after an earlier attempt without a response. Ask the provider before you send it again."
    )
    members = Job.objects.filter(order=first.order_id, provider_order=first.provider_order)
    for job in lock_jobs(members.filter(state__in=UNPRINTED)):
        outcomes.fail_locked(job, message)


@transaction.atomic
def record_order_unusable(*, attempts: Sequence[Attempt], messages: dict[int, str]) -> None:
    """`messages` are of the jobs at fault. The others go without them, unless the provider may have their order."""
    one_of_them = next(iter(messages.values()))
    for attempt in attempts:
        if attempt.job_id in messages or attempt.job.is_uncertain:
            message = messages.get(attempt.job_id) or f"Another job of its order: {one_of_them}"
            outcomes.record_unusable(attempt=attempt, message=message)
        else:
            outcomes.record_left_out(attempt=attempt, outcome=AttemptOutcome.FAILED, message=one_of_them)
