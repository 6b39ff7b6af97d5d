"""A slot is reserved before a delivery is claimed.

Without a slot a delivery stays in the table, without a lease, for any worker. An endpoint is proven when its last
response to this worker was good. All other endpoints, dead ones included, share half of the slots, so that the other
half stays free for endpoints that respond. All applications of one person share half as well: their endpoints may
respond well, but slowly.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from applications.webhooks.services.delivery_attempts import ClaimedDelivery

MAX_PROVEN_ENDPOINTS = 10_000


@dataclass(frozen=True, slots=True)
class Reserved:
    count: int
    is_proven: bool
    application_id: UUID


class ConnectionSlots:
    def __init__(self, *, limit: int, share: int) -> None:
        self._limit, self._share = limit, share
        self._lock = threading.Lock()
        self._reserved_unproven = 0
        # Deliveries under way and reserved slots.
        self._applications: Counter[UUID] = Counter()
        self._people: dict[UUID, UUID] = {}
        # Deliveries under way to endpoints that were unproven when they were claimed.
        self._unproven: set[int] = set()
        self._proven: OrderedDict[UUID, None] = OrderedDict()

    def reserve(self, requested: int, *, webhook_id: UUID, application_id: UUID, person_id: UUID) -> Reserved:
        with self._lock:
            free = min(self._free(), self._free_of_person(person_id))
            count = min(requested, free, self._share - self._applications[application_id])
            is_proven = webhook_id in self._proven
            if not is_proven:
                count = min(count, self._free_unproven())
            reserved = Reserved(max(count, 0), is_proven, application_id)
            self._people[application_id] = person_id
            self._applications[application_id] += reserved.count
            self._give_back(application_id, 0)
            if not is_proven:
                self._reserved_unproven += reserved.count
            return reserved

    def assign(self, reserved: Reserved, claimed: Sequence[ClaimedDelivery]) -> None:
        """Ends the reservation; each claimed delivery holds a slot until `release`."""
        with self._lock:
            self._give_back(reserved.application_id, reserved.count - len(claimed))
            if not reserved.is_proven:
                self._reserved_unproven -= reserved.count
            for delivery in claimed:
                if delivery.webhook_id not in self._proven:
                    self._unproven.add(delivery.delivery_id)

    def release(self, delivery: ClaimedDelivery) -> None:
        with self._lock:
            self._unproven.discard(delivery.delivery_id)
            self._give_back(delivery.application_id, 1)

    def record_outcome(self, webhook_id: UUID, *, is_good: bool) -> None:
        with self._lock:
            self._proven.pop(webhook_id, None)
            if is_good:
                self._proven[webhook_id] = None
                if len(self._proven) > MAX_PROVEN_ENDPOINTS:
                    self._proven.popitem(last=False)

    def _give_back(self, application_id: UUID, count: int) -> None:
        self._applications[application_id] -= count
        if not self._applications[application_id]:
            del self._applications[application_id]
            self._people.pop(application_id, None)

    def _free(self) -> int:
        return self._limit - self._applications.total()

    def _free_of_person(self, person_id: UUID) -> int:
        held_slots = (
            count
            for application, count in self._applications.items()
            if self._people[application] == person_id
        )
        return self._limit // 2 - sum(held_slots)

    def _free_unproven(self) -> int:
        return self._limit // 2 - len(self._unproven) - self._reserved_unproven
