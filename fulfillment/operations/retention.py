"""Applies the retention rules of all apps, by `manage.py prune` or every night by a worker."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db import Error, connection
from django.utils import timezone

from fulfillment.core.audit.retention import RetentionRule
from fulfillment.core.db.locks import exclusive_job
from fulfillment.core.db.prepared import database_now, fetch_rows
from fulfillment.core.errors import Conflict, DomainError
from fulfillment.core.plugins import offered_values

logger = logging.getLogger(__name__)

BATCH = 500
# Workers remove finished jobs; failed ones stay for operators to examine.
OLD_JOBS = """
SELECT id FROM procrastinate_jobs job
WHERE status IN ('failed', 'cancelled', 'aborted')
    AND NOT EXISTS (
        SELECT FROM procrastinate_events event WHERE event.job_id = job.id AND event.at > now() - interval '30 days'
    )
"""
COUNT_JOBS = f"SELECT count(*) FROM ({OLD_JOBS}) old"  # noqa: S608 - a constant
# A pause between two batches, so that the service has priority.
PAUSE_SECONDS = 0.05
CLOCKS_APART = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """The result of one rule; `failure` is the reason why records remain."""

    name: str
    count: int
    failure: str = ""


def all_retention_rules(*, proof_days: int | None = None) -> list[RetentionRule]:
    """The rules of all apps; `proof_days` is the age of those whose age may be chosen."""
    rules = [
        rule
        for retention_rules in offered_values("operations", "retention_rules")
        for rule in retention_rules()
    ]
    if proof_days is not None:
        rules = [rule.for_days(proof_days) if rule.for_days else rule for rule in rules]
    return [*rules, RetentionRule("failed jobs", lambda: fetch_rows(COUNT_JOBS)[0][0], _remove_jobs)]


def prune(
    *,
    rules: Iterable[RetentionRule] | None = None,
    batch: int = BATCH,
    on_progress: Callable[[RetentionReport], None] = lambda pruned: None,
) -> list[RetentionReport]:
    """Removes in small batches, one kind after the other; a failure of one kind does not stop the others.

    Raises Conflict while another process prunes, or when the clock of this machine cannot be right.
    """
    _refuse_a_wrong_clock()
    report = []
    with exclusive_job("Pruning"):
        for rule in all_retention_rules() if rules is None else rules:
            report.append(_prune_one(rule, batch))
            on_progress(report[-1])
    return report


def _refuse_a_wrong_clock() -> None:
    """Refuses to run if this machine's clock differs from the database's: recent records would look old."""
    apart = abs(timezone.now() - database_now())
    if apart > CLOCKS_APART:
        raise Conflict(
            f"The clock of this machine and that of the database are {apart.total_seconds() / 60:.0f} minutes apart; "
            "nothing is pruned until they agree.",
            code="clocks_apart",
        )


def _prune_one(rule: RetentionRule, batch: int) -> RetentionReport:
    removed = 0
    try:
        for count in rule.remove(batch):
            removed += count
            if count >= batch:
                time.sleep(PAUSE_SECONDS)
    except DomainError as error:
        return RetentionReport(rule.name, removed, error.message)
    except Error as error:
        # Further lines of the error may quote a row with personal data.
        return RetentionReport(
            rule.name, removed, f"{type(error).__name__}: {str(error).partition('DETAIL')[0].strip()}"
        )
    except Exception as error:
        # Such as an error of the file storage; all later rules would wait for it every night.
        logger.exception("Pruning of %s failed", rule.name)
        return RetentionReport(rule.name, removed, type(error).__name__)
    return RetentionReport(rule.name, removed)


def _remove_jobs(batch: int) -> Iterator[int]:
    statement = (
        f"DELETE FROM procrastinate_jobs WHERE id IN ({OLD_JOBS} ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED)"  # noqa: S608
    )
    with connection.cursor() as cursor:
        removed = batch
        while removed == batch:
            cursor.execute(statement, [batch])
            removed = cursor.rowcount
            yield removed
