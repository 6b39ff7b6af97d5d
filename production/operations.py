"""What `fulfillment.operations` uses of this app (docs/architecture.md). Erased orders erase their own exchanges.

Exchanges and raw reports go after EXCHANGE_RETENTION_DAYS, ledgers after 180 days; all else stays.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone
from psycopg import sql

from accounts.models import User
from fulfillment.core.audit.personal_data import PersonalData
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from fulfillment.core.db.prepared import ASIDE, skip_numbers
from fulfillment.core.secrets import StoredSecret
from fulfillment.core.text import JsonObject, timestamp
from production.gang_sheets.models import GangSheet, SheetState
from production.jobs.models import OPEN, Attempt, Job, JobHistory, ProviderReport
from production.providers.models import LedgerRow, Provider
from stores.orders.models.status import TERMINAL_OR_SHIPPED

# How often a job may have been sent again since the moment to which a restore goes back.
RESTARTS_SKIPPED = 100
# Longer than jobs are retried or reported on.
LEDGER_RETENTION = timedelta(days=180)
STORED_SECRETS = (
    StoredSecret("secrets of print providers", Provider, ciphertext="secrets_ciphertext", digest=None),
    StoredSecret(
        "report addresses of print providers",
        Provider,
        ciphertext="postback_ciphertext",
        digest="postback_digest",
    ),
)


def skip_used_numbers() -> Iterator[str]:
    """A provider may know a sheet that still collects, with other jobs on it: it takes no more.

    It may also know the numbers under which jobs were sent again.
    """
    number = skip_numbers("production_gangsheet_id_seq")
    if number is not None:
        GangSheet.objects.filter(state=SheetState.COLLECTING).update(state=SheetState.PLANNED)
        open_jobs = Job.objects.exclude(order__status__in=TERMINAL_OR_SHIPPED)
        open_jobs.update(generation=Greatest("generation", _find_generation()) + RESTARTS_SKIPPED)
        yield f"New gang sheets begin at number G{number}."


def _find_generation() -> int:
    """The highest one of the jobs that a restore replaces, or 0."""
    table = Job._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [f"{ASIDE}.{table}"])
        if cursor.fetchone() == (None,):
            return 0
        statement = sql.SQL("SELECT coalesce(max(generation), 0) FROM {}")
        cursor.execute(statement.format(sql.Identifier(ASIDE, table)))
        return int(cursor.fetchone()[0])


def personal_data() -> list[PersonalData]:
    return [PersonalData("print_job_history", _list_history)]


def _list_history(user: User) -> Iterator[JsonObject]:
    entries = JobHistory.objects.filter(actor=user).select_related("job").order_by("pk")
    for entry in entries.iterator():
        yield {
            "JobNumber": entry.job.number,
            "State": entry.state,
            "Timestamp": timestamp(entry.timestamp),
            "Note": entry.note,
        }


def retention_rules() -> list[RetentionRule]:
    return [
        RetentionRule("exchanges with print providers", lambda: _old_attempts().count(), _empty_attempts),
        rule_for_rows("reports of unknown print jobs", _old_unknown),
        rule_for_rows("old ledger entries of hot folders", _old_entries),
        RetentionRule("raw reports of print providers", lambda: _old_raw().count(), _empty_reports),
    ]


def _find_cutoff() -> datetime:
    return timezone.now() - timedelta(days=settings.EXCHANGE_RETENTION_DAYS)


def _old_entries() -> QuerySet[LedgerRow]:
    return LedgerRow.objects.filter(updated__lt=timezone.now() - LEDGER_RETENTION)


def _old_attempts() -> QuerySet[Attempt]:
    """Old attempts, except of open jobs."""
    erased = Q(request="", response="")
    return Attempt.objects.filter(started__lt=_find_cutoff()).exclude(job__state__in=OPEN).exclude(erased)


def _old_raw() -> QuerySet[ProviderReport]:
    return ProviderReport.objects.filter(received__lt=_find_cutoff()).exclude(raw="")


def _old_unknown() -> QuerySet[ProviderReport]:
    return ProviderReport.objects.filter(received__lt=_find_cutoff(), job__isnull=True)


def _empty_attempts(batch: int) -> Iterator[int]:
    while keys := list(_old_attempts().order_by("started").values_list("pk", flat=True)[:batch]):
        with transaction.atomic():
            yield Attempt.objects.filter(pk__in=keys).update(request="", response="")


def _empty_reports(batch: int) -> Iterator[int]:
    while keys := list(_old_raw().order_by("received").values_list("pk", flat=True)[:batch]):
        with transaction.atomic():
            yield ProviderReport.objects.filter(pk__in=keys).update(raw="")
