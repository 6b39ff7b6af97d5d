"""Erases recipients from jobs: tickets contain the address, and reports may repeat it."""

from fulfillment.core.audit.erasure import ERASED
from production.jobs.models import Attempt, Job, JobHistory, ProviderReport
from stores.orders.models import Order


def erase_exchanges(*, order: Order) -> None:
    """Erases exchanges in the transaction of the erasure; digests, times and states stay."""
    Attempt.objects.filter(job__order=order).exclude(request="").update(request=ERASED)
    Attempt.objects.filter(job__order=order).exclude(answer="").update(answer=ERASED)
    Attempt.objects.filter(job__order=order).exclude(message="").update(message=ERASED)
    reports = ProviderReport.objects.filter(job__order=order)
    reports.exclude(raw="").update(raw=ERASED)
    reports.exclude(message="").update(message=ERASED)
    reports.exclude(tracking_url="").update(tracking_url="")
    Job.objects.filter(order=order).exclude(message="").update(message=ERASED)
    JobHistory.objects.filter(job__order=order).exclude(note="").update(note=ERASED)
