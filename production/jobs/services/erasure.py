"""Erases recipients from jobs: tickets contain the address, and reports may repeat it."""

from accounts.services.notifications import erase_texts
from fulfillment.core.audit.personal_data import ERASED
from production.jobs.models import Attempt, Job, JobHistory, JobState, ProviderReport
from production.jobs.services.notices import failure_key
from stores.orders.models import Order


def erase_exchanges(*, order: Order) -> None:
    """Erases exchanges in the transaction of the erasure; digests, times and states stay."""
    Attempt.objects.filter(job__order=order).exclude(request="").update(request=ERASED)
    Attempt.objects.filter(job__order=order).exclude(response="").update(response=ERASED)
    Attempt.objects.filter(job__order=order).exclude(message="").update(message=ERASED)
    reports = ProviderReport.objects.filter(job__order=order)
    reports.exclude(raw="").update(raw=ERASED)
    reports.exclude(message="").update(message=ERASED)
    reports.exclude(tracking_url="").update(tracking_url="")
    Job.objects.filter(order=order).exclude(message="").update(message=ERASED)
    JobHistory.objects.filter(job__order=order).exclude(note="").update(note=ERASED)
    _erase_notices(order)


def _erase_notices(order: Order) -> None:
    """They repeat what the provider wrote. Few jobs fail, so the others cost no search."""
    failed = Job.objects.filter(history__state=JobState.FAILED, order=order)
    numbers = {
        *failed.values_list("number", flat=True),
        *Attempt.objects.filter(job__in=failed).values_list("number", flat=True),
    }
    if numbers:
        erase_texts(keys=[failure_key(number) for number in sorted(numbers)])
