"""A worker's threads for batches: few of them, and in turns, so that mails and other people's batches go on."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fulfillment.core.errors import ServiceBusy

# A quarter of a worker's threads for jobs, and more than draw at once.
THREADS, SECONDS = 16, 60.0

_free = threading.BoundedSemaphore(THREADS)


@contextmanager
def thread_for_batch() -> Iterator[Callable[[], None]]:
    """Raises ServiceBusy while other batches have all threads; the job is then tried again.

    So does the function that it gives, once the job had its time and all threads are taken: call it between rows.
    """
    ends = time.monotonic() + SECONDS
    if not _free.acquire(blocking=False):
        raise _busy()

    def go_on() -> None:
        if time.monotonic() < ends:
            return
        if not _free.acquire(blocking=False):
            raise _busy()
        _free.release()

    try:
        yield go_on
    finally:
        _free.release()


def _busy() -> ServiceBusy:
    return ServiceBusy("Other batches have all threads of this worker.")
