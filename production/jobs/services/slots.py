"""How many exchanges one provider may have under way in a worker, so that a slow one delays only its own jobs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock


class ProviderSlots:
    """Shared by the threads of one worker."""

    def __init__(self, per_provider: int) -> None:
        self._per_provider = per_provider
        self._taken: Counter[int] = Counter()
        self._lock = Lock()

    def full_providers(self) -> Sequence[int]:
        with self._lock:
            return [pk for pk, count in self._taken.items() if count >= self._per_provider]

    @contextmanager
    def reserve(self) -> Iterator["Slot"]:
        """A slot to be taken once the provider is known; free again at the end of the block."""
        slot = Slot(self)
        try:
            yield slot
        finally:
            slot.release()

    def occupy(self, provider_pk: int) -> bool:
        with self._lock:
            if self._taken[provider_pk] >= self._per_provider:
                return False
            self._taken[provider_pk] += 1
            return True

    def vacate(self, provider_pk: int) -> None:
        with self._lock:
            self._taken[provider_pk] -= 1


class Slot:
    def __init__(self, slots: ProviderSlots) -> None:
        self._slots = slots
        self._provider_pk: int | None = None

    def take(self, provider_pk: int) -> bool:
        """False while the provider has no free slot."""
        if not self._slots.occupy(provider_pk):
            return False
        self._provider_pk = provider_pk
        return True

    def release(self) -> None:
        if self._provider_pk is not None:
            self._slots.vacate(self._provider_pk)
            self._provider_pk = None
