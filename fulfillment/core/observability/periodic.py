"""Periodic work of a web process in a background thread."""

import logging
import threading
from collections.abc import Callable
from multiprocessing.util import Finalize

from django.db import connection

logger = logging.getLogger("fulfillment.core.observability.periodic")


class Periodic:
    """Calls `work` in a thread of its own, from the first `start` on, and once more when the process ends.

    An error is logged and the next round comes as usual. Between rounds it holds no database connection.
    """

    def __init__(self, work: Callable[[], object], *, seconds: float) -> None:
        self.work, self.seconds = work, seconds
        self._started = False
        self._lock = threading.Lock()

    def start(self) -> None:
        """Starts the thread once; call it at the first request, because the server may fork before."""
        if self._started or not self.seconds:
            return
        with self._lock:
            if not self._started:
                self._started = True
                threading.Thread(target=self._run, name=f"periodic {self.work.__name__}", daemon=True).start()
                # Web workers are children of multiprocessing, which do not run `atexit`.
                Finalize(None, self._once, exitpriority=10)

    def _run(self) -> None:
        wake = threading.Event()
        while not wake.wait(self.seconds):
            self._once()

    def _once(self) -> None:
        try:
            self.work()
        except Exception as error:  # noqa: BLE001 - a round that fails must not be the last one
            logger.warning("%s: %s", self.work.__name__, error)
        finally:
            connection.close()
