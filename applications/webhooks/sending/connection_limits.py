"""How many requests to webhooks are under way in one worker: of all, of one application, to unproven endpoints.

A place is reserved before a delivery is taken: what waits stays in the table, without a lease, for whichever worker
has room first. An endpoint is proven by its last answer here. The others, dead ones among them, share half of all
places, so that even very many of them leave the other half to endpoints that answer.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from applications.webhooks.services.delivery_attempts import ClaimedDelivery

PROVEN_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Reserved:
    count: int
    is_proven: bool


class Places:
    def __init__(self, *, limit: int, share: int) -> None:
        self._limit, self._share = limit, share
        self._lock = threading.Lock()
        self._reserved = 0
        self._reserved_unproven = 0
        self._applications: Counter[UUID] = Counter()
        # Deliveries under way to endpoints that were unproven when they were taken.
        self._unproven: set[int] = set()
        self._proven: OrderedDict[UUID, None] = OrderedDict()

    def reserve(self, wanted: int, *, webhook_id: UUID, application_id: UUID) -> Reserved:
        with self._lock:
            count = min(wanted, self._free(), self._share - self._applications[application_id])
            is_proven = webhook_id in self._proven
            if not is_proven:
                count = min(count, self._free_unproven())
            reserved = Reserved(max(count, 0), is_proven)
            self._reserved += reserved.count
            if not is_proven:
                self._reserved_unproven += reserved.count
            return reserved

    def take(self, reserved: Reserved, found: Sequence[ClaimedDelivery]) -> None:
        """The reservation ends; each of these has a place until it leaves."""
        with self._lock:
            self._reserved -= reserved.count
            if not reserved.is_proven:
                self._reserved_unproven -= reserved.count
            for taken in found:
                self._applications[taken.application_id] += 1
                if taken.webhook_id not in self._proven:
                    self._unproven.add(taken.delivery_id)

    def leave(self, taken: ClaimedDelivery) -> None:
        with self._lock:
            self._unproven.discard(taken.delivery_id)
            self._applications[taken.application_id] -= 1
            if not self._applications[taken.application_id]:
                del self._applications[taken.application_id]

    def record_outcome(self, webhook_id: UUID, *, is_good: bool) -> None:
        with self._lock:
            self._proven.pop(webhook_id, None)
            if is_good:
                self._proven[webhook_id] = None
                if len(self._proven) > PROVEN_KEPT:
                    self._proven.popitem(last=False)

    def _free(self) -> int:
        return self._limit - self._applications.total() - self._reserved

    def _free_unproven(self) -> int:
        return self._limit // 2 - len(self._unproven) - self._reserved_unproven
