"""Retention rules: apps declare what is removed when; `manage.py prune` and the worker apply them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from fulfillment.core.db.locks import long_transaction


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


@long_transaction()
def _delete_batch(rows: QuerySet[Any], batch: int) -> int:
    """Skips rows that are locked now; the next run takes them. Each may have thousands of rows of other kinds."""
    locked = rows.order_by("pk").select_for_update(skip_locked=True, of=("self",))
    keys = list(locked.values_list("pk", flat=True)[:batch])
    rows.model._base_manager.filter(pk__in=keys).delete()  # noqa: SLF001 - past managers that hide rows
    return len(keys)
