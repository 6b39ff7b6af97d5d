"""Retention rules: apps declare what is removed when; `manage.py prune` and the worker apply them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import QuerySet

from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import DomainError

# With more files that cannot be deleted, the storage is probably down.
MAX_FAILURES = 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """What is removed of one kind of data. `remove` takes the size of a batch and yields the number removed by each.

    A batch is a transaction of its own: an interruption between two leaves nothing half done, and the next run
    continues. `count` returns how many would be removed now. `for_days` makes the same rule with another age.
    """

    name: str
    count: Callable[[], int]
    remove: Callable[[int], Iterator[int]]
    for_days: Callable[[int], "RetentionRule"] | None = None


def rule_for_rows(name: str, rows: Callable[[], QuerySet[Any]]) -> RetentionRule:
    """A rule for the rows of a query that own no files."""

    def remove(batch: int) -> Iterator[int]:
        while removed := _delete_batch(rows(), batch):
            yield removed

    return RetentionRule(name, lambda: rows().count(), remove)


def remove_each(items: Iterable[T], remove: Callable[[T], int]) -> Iterator[int]:
    """Yields what `remove` returns for each item, and raises the first failure at the end: one file that cannot be
    deleted must not keep all others of its kind, every night.
    """
    failures: list[DomainError] = []
    for item in items:
        try:
            removed = remove(item)
        except DomainError as error:
            failures.append(error)
            if len(failures) > MAX_FAILURES:
                break
        else:
            yield removed
    if failures:
        raise failures[0]


@long_transaction()
def _delete_batch(rows: QuerySet[Any], batch: int) -> int:
    """Skips rows that are locked now; the next run takes them. Each may have thousands of rows of other kinds."""
    locked = rows.order_by("pk").select_for_update(skip_locked=True, of=("self",))
    keys = list(locked.values_list("pk", flat=True)[:batch])
    rows.model._base_manager.filter(pk__in=keys).delete()  # noqa: SLF001 - past managers that hide rows
    return len(keys)
