"""Retention: exchanges and raw reports go after EXCHANGE_RETENTION_DAYS, ledgers after 180 days; all else stays."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.services.notifications import erase_texts
from fulfillment.core.audit.personal_data import ERASED
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from production.jobs.models import OPEN, Attempt, Job, JobHistory, JobState, ProviderReport
from production.jobs.services.outcomes import failure_key
from production.providers.models import LedgerRow
from stores.orders.models import Order

# Longer than jobs are retried or reported on.
LEDGER_RETENTION = timedelta(days=180)


def retention_rules() -> list[RetentionRule]:
    return [
        RetentionRule("exchanges with print providers", lambda: _old_attempts().count(), _empty_attempts),
        rule_for_rows("reports of unknown print jobs", _old_unknown),
        rule_for_rows("old ledger entries of hot folders", _old_entries),
        RetentionRule("raw reports of print providers", lambda: _old_raw().count(), _empty_reports),
    ]


def _before() -> datetime:
    return timezone.now() - timedelta(days=settings.EXCHANGE_RETENTION_DAYS)


def _old_entries() -> QuerySet[LedgerRow]:
    return LedgerRow.objects.filter(updated__lt=timezone.now() - LEDGER_RETENTION)


def _old_attempts() -> QuerySet[Attempt]:
    """Old attempts, except of open jobs."""
    erased = Q(request="", response="")
    return Attempt.objects.filter(started__lt=_before()).exclude(job__state__in=OPEN).exclude(erased)


def _old_raw() -> QuerySet[ProviderReport]:
    return ProviderReport.objects.filter(received__lt=_before()).exclude(raw="")


def _old_unknown() -> QuerySet[ProviderReport]:
    return ProviderReport.objects.filter(received__lt=_before(), job__isnull=True)


def _empty_attempts(batch: int) -> Iterator[int]:
    while keys := list(_old_attempts().order_by("started").values_list("pk", flat=True)[:batch]):
        with transaction.atomic():
            yield Attempt.objects.filter(pk__in=keys).update(request="", response="")


def _empty_reports(batch: int) -> Iterator[int]:
    while keys := list(_old_raw().order_by("received").values_list("pk", flat=True)[:batch]):
        with transaction.atomic():
            yield ProviderReport.objects.filter(pk__in=keys).update(raw="")


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
