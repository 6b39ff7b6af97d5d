"""Caches of a process, limited by weight."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class WeightedCache(Generic[Key, Value]):
    """Evicts the least recently used entries while the total weight exceeds `capacity`.

    The newest entry always stays, even if it alone is heavier.
    """

    def __init__(self, *, capacity: int, weight: Callable[[Value], int]) -> None:
        self._capacity, self._weight = capacity, weight
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def get_or_make(self, key: Key, make: Callable[[], Value]) -> Value:
        """Two threads may make it at the same time."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> None:
        weight = self._weight(value)
        with self._lock:
            self._total += weight - self._entries.pop(key, (None, 0))[1]
            self._entries[key] = value, weight
            while len(self._entries) > 1 and self._total > self._capacity:
                self._total -= self._entries.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._total = 0
