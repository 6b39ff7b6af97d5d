"""How many exchanges one provider has at once in this process: a slow one delays its own jobs only."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

MAX_AT_ONCE = 4
# How long a claim of a job lasts; who still works on it then holds a lock.
LEASE_SECONDS = 10


class ProviderSlots:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: Counter[int] = Counter()

    @contextmanager
    def of_one_job(self) -> Iterator["JobSlots"]:
        """Releases the slots when the work on the job ends, also after an error."""
        slots = JobSlots(self)
        try:
            yield slots
        finally:
            for provider_pk in slots.taken:
                self._change(provider_pk, -1)

    def full(self) -> Sequence[int]:
        """Providers without a free slot."""
        with self._lock:
            return [key for key, count in self._used.items() if count >= MAX_AT_ONCE]

    def take(self, provider_pk: int) -> bool:
        with self._lock:
            if self._used[provider_pk] >= MAX_AT_ONCE:
                return False
            self._used[provider_pk] += 1
            return True

    def _change(self, provider_pk: int, by: int) -> None:
        with self._lock:
            self._used[provider_pk] += by


class JobSlots:
    """The slots of one job: at most one of each provider."""

    def __init__(self, slots: ProviderSlots) -> None:
        self._slots = slots
        self.taken: set[int] = set()

    def take(self, provider_pk: int) -> bool:
        if provider_pk not in self.taken and not self._slots.take(provider_pk):
            return False
        self.taken.add(provider_pk)
        return True


SLOTS = ProviderSlots()
