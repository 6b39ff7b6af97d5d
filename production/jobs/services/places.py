"""How many exchanges one provider has at once in this process: a slow one holds up its own jobs, and no others."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

MOST_AT_ONCE = 4


class Places:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Counter[int] = Counter()

    @contextmanager
    def of_one_job(self) -> Iterator["Place"]:
        """Gives back at the end what was taken, however the work on the job ended."""
        place = Place(self)
        try:
            yield place
        finally:
            for provider_pk in place.held:
                self._change(provider_pk, -1)

    def full(self) -> Sequence[int]:
        """Providers that take no more now."""
        with self._lock:
            return [key for key, count in self._held.items() if count >= MOST_AT_ONCE]

    def take(self, provider_pk: int) -> bool:
        with self._lock:
            if self._held[provider_pk] >= MOST_AT_ONCE:
                return False
            self._held[provider_pk] += 1
            return True

    def _change(self, provider_pk: int, by: int) -> None:
        with self._lock:
            self._held[provider_pk] += by


class Place:
    def __init__(self, places: Places) -> None:
        self._places = places
        self.held: list[int] = []

    def take(self, provider_pk: int) -> bool:
        if provider_pk in self.held or self._places.take(provider_pk):
            self.held = [*self.held, provider_pk] if provider_pk not in self.held else self.held
            return True
        return False


PLACES = Places()
