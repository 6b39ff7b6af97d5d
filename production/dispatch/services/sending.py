"""Works on due jobs: each exchange is recorded before it begins and completed after it.

A claim moves `next_try` ahead by a lease, and who works on a job holds a lock on its number. Jobs of a killed worker
become due again when the lease ends; jobs that are still locked are left alone.
"""

import logging
from collections.abc import Collection, Sequence
from datetime import timedelta

from cryptography.fernet import InvalidToken
from django.db import transaction
from django.utils import timezone

from fulfillment.core.db.locks import lock_of_its_own
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import DomainError, TooManyRequests, Unavailable
from production.dispatch.services.slots import SLOTS, JobSlots
from production.gang_sheets.selectors.requests import uses_gang_sheets
from production.gang_sheets.services.members import add_to_sheet, remove_from_sheet
from production.interface import ProviderRefused, ProviderUnavailable
from production.jobs.models import Attempt, AttemptKind, Job, JobState
from production.jobs.selectors import adapter_job
from production.jobs.services import outcomes
from production.jobs.services.recording import close_interrupted, lock_job, record_job
from production.providers.models import Provider
from production.providers.selectors import adapter_of, is_down
from production.routing.selectors import Decision, decide, facts_of
from production.routing.services import count_job, lock_routing

logger = logging.getLogger(__name__)

LEASE_SECONDS = 10
JOB_LOCKS = 0x10B << 44
# The wait while no provider of the rule is available.
WAIT_FOR_PROVIDER = timedelta(seconds=15)
CLAIM = """
UPDATE production_job SET next_try = clock_timestamp() + make_interval(secs => %s) WHERE id IN (
    SELECT id FROM production_job WHERE next_try <= (SELECT clock_timestamp())
    AND (provider_id IS NULL OR provider_id <> ALL(%s)) AND id <> ALL(%s)
    ORDER BY next_try LIMIT %s FOR UPDATE SKIP LOCKED
) RETURNING id
"""


def claim_due_jobs(*, limit: int, under_way: Collection[int] = ()) -> Sequence[int]:
    """Claims the longest waiting jobs, but none of a provider at its limit of concurrent jobs."""
    values = [LEASE_SECONDS, list(SLOTS.full()), list(under_way), limit]
    return [key for (key,) in fetch_rows(CLAIM, values)]


def work_on_job(*, job_pk: int) -> bool:
    """Submits or cancels the job, whichever is due; False if neither is."""
    with lock_of_its_own(JOB_LOCKS | job_pk) as is_ours:
        if not is_ours:
            return False
        with SLOTS.of_one_job() as slots:
            attempt, waits_on_sheet = _begin(job_pk, slots)
            if waits_on_sheet and not add_to_sheet(job_pk=job_pk):
                attempt, _ = _begin(job_pk, slots, is_alone=True)
            if attempt is None:
                return False
            _exchange(attempt)
            return True


def _exchange(attempt: Attempt) -> None:
    """Runs the exchange outside of transactions, because it may take long."""
    job = attempt.job
    try:
        adapter = adapter_of(attempt.provider)
        sent = adapter_job(job)
        if attempt.kind == AttemptKind.CANCEL:
            exchange = adapter.cancel(sent, job.reference)
            outcomes.record_cancelled(attempt=attempt, exchange=exchange)
        else:
            outcomes.record_submitted(attempt=attempt, submitted=adapter.submit(sent))
    except ProviderRefused as error:
        outcomes.record_refused(attempt=attempt, error=error)
    except ProviderUnavailable as error:
        outcomes.record_unavailable(attempt=attempt, error=error)
    except (Unavailable, TooManyRequests) as error:
        # A part of the service is unavailable, such as its file storage; the provider is not at fault.
        outcomes.record_postponed(attempt=attempt, error=error)
    except (DomainError, ValueError, InvalidToken) as error:
        # Nothing was sent, because of an unusable file, setting or secret.
        outcomes.record_unusable(attempt=attempt, message=str(error) or "No key opens the stored secrets.")


@transaction.atomic
def _begin(job_pk: int, slots: JobSlots, *, is_alone: bool = False) -> tuple[Attempt | None, bool]:
    """Records the start of an attempt, or None where none is to be made now.

    The second value is True if the job is to wait for a gang sheet instead.
    """
    job = lock_job(job_pk)
    if not _is_ready(job):
        return None, False
    changed = ["is_uncertain", "provider", "rule", "message"]
    if not (job.cancel_requested or is_alone or job.is_uncertain) and uses_gang_sheets(job.provider):
        job.save(update_fields=changed)
        return None, True
    if job.provider_id is None or not slots.take(job.provider_id):
        # It stays due, and is claimed again once the provider has a free slot.
        job.next_try = timezone.now()
        job.save(update_fields=["next_try", *changed])
        return None, False
    job.tries += 1
    job.save(update_fields=["tries", *changed])
    attempt = Attempt(
        job=job,
        number=job.number,
        provider_id=job.provider_id,
        kind=AttemptKind.CANCEL if job.cancel_requested else AttemptKind.SUBMIT,
        started=timezone.now(),
    )
    attempt.save()
    return attempt, False


def _is_ready(job: Job) -> bool:
    """Whether the locked job is to be sent, or cancelled at its provider, now; closes an interrupted attempt."""
    if job.next_try is None or (job.held and not job.cancel_requested):
        return False
    if job.gang_sheet_id is not None:
        _cancel_member(job)
        return False
    close_interrupted(job)
    if job.cancel_requested:
        if job.provider is None:
            outcomes.cancel_locked(job, note="No provider had it.")
        return job.provider is not None
    if job.state != JobState.QUEUED:
        job.next_try = None
        job.save(update_fields=["next_try", "is_uncertain"])
        return False
    return _route(job)


def _cancel_member(job: Job) -> None:
    """The sheet sends its members and closes their interrupted attempts; alone a member is only cancelled."""
    if not job.cancel_requested:
        job.next_try = None
        job.save(update_fields=["next_try"])
    elif job.state != JobState.QUEUED:
        message = f"It is on gang sheet {job.gang_sheet}, which {job.provider} has; stop it there."
        outcomes.keep_uncancelled(job, message)
    elif remove_from_sheet(job):
        outcomes.cancel_locked(job, note="It was taken off its gang sheet before that was sent.")
    else:
        job.next_try = timezone.now() + WAIT_FOR_PROVIDER
        job.save(update_fields=["next_try"])


def _route(job: Job) -> bool:
    """Chooses a provider for the locked job; False if none is available now."""
    provider = job.provider
    if provider is not None and (job.is_uncertain or not _should_move_on(job, provider)):
        return True
    lock_routing()
    item = type(job.item).objects.select_related("product").get(pk=job.item_id)
    excluded = [*job.refused_by, *([provider.pk] if provider else [])]
    decision = decide(facts_of(job.order, item), now=timezone.now(), excluded=excluded)
    if decision.chosen is None:
        return (provider is not None and provider.is_enabled) or _wait(job, decision)
    _assign(job, decision, provider)
    return True


def _should_move_on(job: Job, provider: Provider) -> bool:
    return not provider.is_enabled or (job.tries > 0 and is_down(provider))


def _assign(job: Job, decision: Decision, before: Provider | None) -> None:
    if decision.chosen is None:
        return
    job.provider, job.rule = decision.chosen.provider, decision.rule
    count_job(
        provider_pk=job.provider.pk, rule_pk=decision.rule.pk if decision.rule else None, at=timezone.now()
    )
    if before is not None:
        job.failing_since = None
        record_job(job, previous=job.state, note=f"{before} is down or disabled: goes to {job.provider}.")


def _wait(job: Job, decision: Decision) -> bool:
    """Postpones the job, or fails it if no rule matches; always returns False."""
    if decision.rule is None or all(one.obstacle == "it refused this job" for one in decision.candidates):
        last = job.message if " refused it: " in job.message else ""
        reason = f"Every provider refused it. {last}".strip()
        outcomes.fail_locked(job, "No routing rule fits it any more." if decision.rule is None else reason)
        return False
    reasons = "; ".join(f"{one.provider}: {one.obstacle}" for one in decision.candidates)
    job.message, job.next_try = f"Waits for a provider. {reasons}"[:1000], timezone.now() + WAIT_FOR_PROVIDER
    job.save(update_fields=["message", "next_try", "is_uncertain"])
    return False
