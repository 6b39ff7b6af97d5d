"""Everything that is pruned, of all apps, by `manage.py prune` or by the clock of the worker."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import accounts.services.pruning
import applications.services.authorizations
import applications.services.pruning
import delivery.services.pruning
import stores.services.pruning
import stores.services.recipients
from fulfillment.errors import DomainError
from fulfillment.locks import only_one
from fulfillment.pruning import Prunable

BATCH = 500
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
        *applications.services.authorizations.prunables(),
        *applications.services.pruning.prunables(),
        *delivery.services.pruning.prunables(),
        *stores.services.recipients.prunables(),
        *stores.services.pruning.prunables(proof_days=proof_days),
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
    return Pruned(thing.name, removed)
