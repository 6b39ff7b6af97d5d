"""Everything that is pruned, of all apps, by `manage.py prune` or by the clock of the worker."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.db import DatabaseError, connection

import accounts.services.pruning
import applications.services.pruning
import delivery.services.pruning
import stores.services.pruning
import stores.services.recipients
from fulfillment.errors import DomainError
from fulfillment.locks import only_one
from fulfillment.pruning import Prunable

BATCH = 500
# Workers remove what they have done; what failed is kept for whoever looks for the reason.
OLD_JOBS = """
SELECT id FROM procrastinate_jobs job
WHERE status IN ('failed', 'cancelled', 'aborted')
    AND NOT EXISTS (
        SELECT FROM procrastinate_events event WHERE event.job_id = job.id AND event.at > now() - interval '30 days'
    )
"""
# Between two batches, so that the service comes first.
PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Pruned:
    """`failure` is why the rest of this kind is still there."""

    name: str
    count: int
    failure: str = ""


def every_prunable(*, proof_days: int | None = None) -> list[Prunable]:
    return [
        *accounts.services.pruning.prunables(),
        *applications.services.pruning.prunables(),
        *delivery.services.pruning.prunables(),
        *stores.services.recipients.prunables(),
        *stores.services.pruning.prunables(proof_days=proof_days),
        Prunable("failed jobs", _count_jobs, _remove_jobs),
    ]


def prune(
    *,
    things: Iterable[Prunable] | None = None,
    batch: int = BATCH,
    listen: Callable[[Pruned], None] = lambda pruned: None,
) -> list[Pruned]:
    """Removes in small batches, one kind after the other; what fails stops nothing else.

    Raises Conflict while another process prunes.
    """
    report = []
    with only_one("Pruning"):
        for thing in every_prunable() if things is None else things:
            report.append(_prune_one(thing, batch))
            listen(report[-1])
    return report


def _prune_one(thing: Prunable, batch: int) -> Pruned:
    removed = 0
    try:
        for count in thing.remove(batch):
            removed += count
            if count >= batch:
                time.sleep(PAUSE_SECONDS)
    except DomainError as error:
        return Pruned(thing.name, removed, error.message)
    except DatabaseError as error:
        connection.close_if_unusable_or_obsolete()
        return Pruned(thing.name, removed, f"The database refused: {error}".strip())
    return Pruned(thing.name, removed)


def _count_jobs() -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ({OLD_JOBS}) old")  # noqa: S608 - a constant
        return int(cursor.fetchone()[0])


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
