"""Chooses the provider of a job that is due, or another one while its provider is down."""

from datetime import timedelta

from django.utils import timezone

from production.jobs.models import Job
from production.jobs.services import outcomes
from production.jobs.services.recording import record_job
from production.providers.models import Provider
from production.providers.selectors import is_down
from production.routing.selectors import Decision, decide, facts_of
from production.routing.services import count_job, lock_routing

# The wait while no provider of the rule is available.
WAIT_FOR_PROVIDER = timedelta(seconds=15)


def choose_provider(job: Job) -> bool:
    """Chooses a provider for the locked job, without saving it; False if none is available now."""
    provider = job.provider
    if provider is not None and (job.is_uncertain or not _should_move_on(job, provider)):
        return True
    lock_routing()
    item = type(job.item).objects.select_related("product").get(pk=job.item_id)
    excluded = [*job.refused_by, *([provider.pk] if provider else [])]
    preferred = _provider_of_siblings(job)
    decision = decide(facts_of(job.order, item), now=timezone.now(), excluded=excluded, preferred=preferred)
    if decision.chosen is None:
        return (provider is not None and provider.is_enabled) or _wait(job, decision)
    _assign(job, decision, provider)
    return True


def _should_move_on(job: Job, provider: Provider) -> bool:
    return not provider.is_enabled or (job.tries > 0 and is_down(provider))


def _provider_of_siblings(job: Job) -> int | None:
    """The provider that takes several items and has jobs of the same order: one parcel is better than two."""
    if job.order.item_count == 1:
        return None
    siblings = Job.objects.filter(order=job.order_id).exclude(pk=job.pk)
    found = Provider.objects.filter(pk__in=siblings.values("provider")).order_by("pk")
    return next((one.pk for one in found if one.takes_several_items), None)


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
