"""Chooses the providers of jobs that are due, or other ones while a provider is down, and counts them by day."""

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from fulfillment.core.db.locks import lock_until_commit
from production.jobs.models import Job, JobHistory, JobState
from production.jobs.selectors import excluded_providers, last_refusal, unavailable_attempts
from production.jobs.services import outcomes
from production.jobs.services.recording import lock_jobs, new_history_entry
from production.providers.models import Provider
from production.providers.selectors import has_failed_long, is_down
from production.routing.models import RoutingRule
from production.routing.selectors import Decision, Routing, item_facts
from stores.orders.models import Order

ROUTING_LOCK = 0x0DE6
COUNT = """
INSERT INTO production_routingtally AS known (day, provider_id, rule_id, jobs)
SELECT %s, * FROM unnest(%s::bigint[], %s::bigint[], %s::integer[])
ON CONFLICT (day, provider_id, rule_id) DO UPDATE SET jobs = known.jobs + excluded.jobs
"""
# The wait while no provider of the rule is available. A look takes some 40 ms: with so long a wait for each order that
# waits for the same rule, looks take a fifth of a thread.
WAIT_FOR_PROVIDER = timedelta(seconds=15)
WAIT_FOR_EACH = timedelta(milliseconds=200)
MAX_WAIT_FOR_PROVIDER = timedelta(minutes=5)
# Jobs that no provider has, or that one was to get which is disabled since. After a try it may have the job.
UNPROVIDED = Q(provider=None) | Q(provider__is_enabled=False, tries=0)
CHANGED = ("provider", "rule", "message", "next_try", "is_uncertain", "updated")
# Jobs of a worker at the same time.
JOBS_AT_ONCE = 8
# How long a claim of a job lasts; who still works on it then holds a lock.
LEASE_SECONDS = 10


def count_jobs(counts: Mapping[tuple[int, int | None], int], *, moment: datetime) -> None:
    """Counts jobs by provider and rule; the rule is None where a person chose the provider."""
    if not counts:
        return
    providers, rules = zip(*counts, strict=True)
    values: list[Any] = [moment.astimezone(UTC).date(), list(providers), list(rules), list(counts.values())]
    with connection.cursor() as cursor:
        cursor.execute(COUNT, values)


class ProviderChoices:
    """Chooses providers for locked jobs of an order, and saves them together.

    From the first choice until the transaction ends all other choices wait: so the number of statements does not grow
    with the number of jobs, except for those that fail.
    """

    def __init__(self) -> None:
        self._routing: Routing | None = None
        self._used: set[int] | None = None
        self._changed: list[Job] = []
        # Keys of waiting jobs, by rule and message.
        self._waiting: defaultdict[tuple[RoutingRule, str], list[int]] = defaultdict(list)
        self._history: list[JobHistory] = []
        self._counts: Counter[tuple[int, int | None]] = Counter()

    @property
    def routing(self) -> Routing:
        if self._routing is None:
            # Until the transaction ends, so that shares and capacities are exact.
            lock_until_commit(ROUTING_LOCK)
            self._routing = Routing(timezone.now())
        return self._routing

    def choose(self, job: Job) -> bool:
        """Whether the job has a provider, perhaps another one than before; False if none is available now."""
        provider = job.provider
        if provider is not None:
            should_move_on = not provider.is_enabled or (job.tries > 0 and _fails(provider, job))
            if job.is_uncertain or not should_move_on:
                return True
        decision = self.routing.decide(
            item_facts(job.order, job.item),
            excluded=excluded_providers(job),
            refused_by=job.refused_by,
            preferred=self._preferred_providers(job),
        )
        if decision.chosen is not None:
            self._assign_provider(job, decision.chosen.provider, decision.rule)
            return True
        return (provider is not None and provider.is_enabled) or self._postpone_or_fail(job, decision)

    def save(self) -> None:
        """Call it in the same transaction."""
        for (rule, message), keys in self._waiting.items():
            values = {
                "rule": rule,
                "message": message,
                "next_try": _next_look(rule),
                "updated": timezone.now(),
            }
            Job.objects.filter(pk__in=keys).update(**values)
        if not self._changed:
            return
        Job.objects.bulk_update(self._changed, CHANGED)
        JobHistory.objects.bulk_create(self._history)
        count_jobs(self._counts, moment=timezone.now())

    def _preferred_providers(self, job: Job) -> Collection[int]:
        """Providers that take several items and have jobs of the same order: one parcel is better than two."""
        if self._used is None:
            self._used = set()
            if job.order.item_count == 1:
                return self._used
            siblings = Job.objects.filter(order=job.order_id).exclude(pk=job.pk)
            providers = Provider.objects.filter(pk__in=siblings.values("provider"))
            self._used = {provider.pk for provider in providers if provider.takes_several_items}
        return self._used

    def _assign_provider(self, job: Job, provider: Provider, rule: RoutingRule | None) -> None:
        previous_provider = job.provider
        job.provider, job.rule, job.updated = provider, rule, timezone.now()
        rule_pk = rule.pk if rule else None
        self.routing.count(provider.pk, rule_pk)
        self._counts[provider.pk, rule_pk] += 1
        self._changed.append(job)
        if provider.takes_several_items and self._used is not None:
            self._used.add(provider.pk)
        if previous_provider is not None:
            note = f"{previous_provider} is down or disabled: goes to {provider}."
            self._history.append(new_history_entry(job, previous=job.state, note=note))

    def _postpone_or_fail(self, job: Job, decision: Decision) -> bool:
        """Postpones the job, or fails it if no rule matches; always returns False. One that is held stays as it is."""
        if job.next_try is None:
            return False
        rule = decision.rule
        if rule is None:
            outcomes.fail_locked(job, "No routing rule matches it any more.")
            return False
        if all(candidate.has_refused and candidate.provider.is_enabled for candidate in decision.candidates):
            outcomes.fail_locked(job, f"Every provider refused it. {last_refusal(job)}".strip())
            return False
        reasons = "; ".join(
            f"{candidate.provider}: {candidate.obstacle}" for candidate in decision.candidates
        )
        message = f"Waits for a provider. {reasons}"[:1000]
        self._waiting[rule, message].append(job.pk)
        return False


def _fails(provider: Provider, job: Job) -> bool:
    """Whether the provider is down, or passes its checks and still fails to take the job."""
    has_waited = has_failed_long(job.failing_since)
    return is_down(provider) or (has_waited and unavailable_attempts(job).filter(provider=provider).exists())


def _next_look(rule: RoutingRule) -> datetime:
    waiting_jobs = Job.objects.filter(UNPROVIDED, next_try__isnull=False, state=JobState.QUEUED, rule=rule)
    max_orders = MAX_WAIT_FOR_PROVIDER // WAIT_FOR_EACH
    order_count = waiting_jobs.order_by().values("order").distinct()[:max_orders].count()
    return timezone.now() + max(WAIT_FOR_PROVIDER, WAIT_FOR_EACH * order_count)


def choose_provider(*, job: Job) -> bool:
    """Chooses a provider for the locked job and saves it; False if none is available now."""
    choices = ProviderChoices()
    is_chosen = choices.choose(job)
    choices.save()
    return is_chosen


def was_postponed(job_pk: int) -> bool:
    """Whether the claimed job was postponed together with others, by the clock of the claim."""
    lease_ends = Now() + timedelta(seconds=LEASE_SECONDS)
    return Job.objects.filter(pk=job_pk, next_try__gt=lease_ends).exists()


@transaction.atomic
def choose_for_order(*, job_pk: int) -> bool:
    """Chooses the providers of all jobs of the order before one is sent: its ticket says how many there are.

    False if the job is not sent now: it fails, or waits with all those of the order that find no provider.
    """
    unassigned = Job.objects.filter(UNPROVIDED, cancel_requested=None, gang_sheet=None, state=JobState.QUEUED)
    if not unassigned.filter(pk=job_pk, order__item_count__gt=1).exists():
        return True
    order = Order.objects.select_for_update(of=("self",), no_key=True).get(jobs=job_pk)
    if was_postponed(job_pk):
        return False
    choices = ProviderChoices()
    jobs = lock_jobs(unassigned.filter(order=order))
    waiting_keys = [job.pk for job in jobs if not choices.choose(job)]
    choices.save()
    return job_pk not in waiting_keys


class ProviderSlots:
    """A provider may take a slot while it has fewer than are free: of 8 the first has 4, a second one 2, two more one
    each. With two providers, two stay free.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: Counter[int] = Counter()

    @contextmanager
    def of_one_job(self) -> Iterator["JobSlots"]:
        """Releases the slots when the work on the job ends, also after an error."""
        slots = JobSlots(self)
        try:
            yield slots
        finally:
            for provider_pk in slots.taken:
                self._change_count(provider_pk, -1)

    def full(self) -> Sequence[int]:
        """Providers without a free slot."""
        with self._lock:
            return [key for key in self._used if self._is_full(key)]

    def take(self, provider_pk: int) -> bool:
        with self._lock:
            if self._is_full(provider_pk):
                return False
            self._used[provider_pk] += 1
            return True

    def _is_full(self, provider_pk: int) -> bool:
        return self._used[provider_pk] >= JOBS_AT_ONCE - self._used.total()

    def _change_count(self, provider_pk: int, by: int) -> None:
        with self._lock:
            self._used[provider_pk] += by


class JobSlots:
    """The slots of one job: at most one of each provider."""

    def __init__(self, slots: ProviderSlots) -> None:
        self._slots = slots
        self.taken: set[int] = set()

    def take(self, provider_pk: int) -> bool:
        if provider_pk not in self.taken and not self._slots.take(provider_pk):
            return False
        self.taken.add(provider_pk)
        return True


SLOTS = ProviderSlots()
