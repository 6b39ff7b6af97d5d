"""How many threads of a process may wait for slow clients: half of them, at least one; for one client all but one of
these."""

import threading
from collections import Counter

from django.conf import settings

# Short, because a waiting request holds a thread too; long enough for clients that send or read at once.
WAIT_SECONDS = 0.05


class ThreadShare:
    """Counts the threads that wait, in total and by client."""

    def __init__(self) -> None:
        # Collecting garbage may end a response at any moment, also while this thread holds the lock.
        self._changed = threading.Condition(threading.RLock())
        self._clients: Counter[str] = Counter()

    def enter(self, client: str) -> bool:
        """Whether a thread is free within WAIT_SECONDS; call `leave` afterwards if so."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_free(client), WAIT_SECONDS):
                return False
            self._clients[client] += 1
            return True

    def leave(self, client: str) -> None:
        with self._changed:
            self._clients[client] -= 1
            if not self._clients[client]:
                del self._clients[client]
            self._changed.notify_all()

    def is_used_up_by(self, client: str) -> bool:
        return self._clients[client] >= max(1, _most() - 1)

    def held_by(self, client: str) -> int:
        return self._clients[client]

    def is_unused(self) -> bool:
        return not self._clients

    def _is_free(self, client: str) -> bool:
        return self._clients.total() < _most() and not self.is_used_up_by(client)


def _most() -> int:
    return max(1, int(settings.WEB_THREADS) // 2)
