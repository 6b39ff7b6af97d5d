"""Works on what waits in a table, beside the jobs of a worker: webhooks, print jobs, test orders.

A row says when it is due. Due rows are read from their table and nowhere else: new ones, retries, and those of a killed
worker, since a claim only moves the time ahead by a lease. There is no second queue to keep in step, so a crash loses
nothing.
"""

import asyncio
import logging
import time
from asyncio import CancelledError
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

from django.db import InterfaceError, OperationalError, connection
from procrastinate import RetryDecision, RetryStrategy
from procrastinate.jobs import Job

from fulfillment.core.db.connections import NOT_SERVED, renew_connection, sqlstate

logger = logging.getLogger(__name__)
K = TypeVar("K")
T = TypeVar("T")

DATABASE_AWAY = (OperationalError, InterfaceError)
POLL_SECONDS = 0.2
# The pause after a poll that lost the database.
PAUSE_SECONDS = 1.0
# Time to finish after the stop signal; interrupted work is due again when its lease has ended.
FINISH_SECONDS = 5.0
CLOSE_SECONDS = 1.0


class WorkerService(Protocol):
    """Runs beside the jobs of a worker. The module `worker` of an app offers a list of them, `services()`."""

    name: str

    async def poll_due(self) -> None:
        """Runs until cancelled."""

    def stop_claiming(self) -> None:
        """Called when the worker stops: finish work under way, start nothing new."""

    async def close(self) -> None:
        """Cancels work under way, after a moment to finish."""


class Outbox:
    """Polls, runs work in the event loop and statements in `threads`, and closes in order."""

    def __init__(self, name: str, *, threads: int) -> None:
        self.name = name
        self.is_closing = False
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name.replace(" ", "-"))
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._finish_until = 0.0

    async def look(self) -> float:
        """Starts work that is due; returns the seconds until the next look."""
        raise NotImplementedError

    async def poll_due(self) -> None:
        while True:
            self._wake.clear()
            try:
                wait = await self.look()
            except DATABASE_AWAY as error:
                logger.warning("The database is unavailable; %s wait: %s", self.name, error)
                wait = PAUSE_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake.wait()

    def stop_claiming(self) -> None:
        """Work under way is finished; waiting work is left to other workers."""
        if not self.is_closing:
            self.is_closing = True
            self._finish_until = time.monotonic() + FINISH_SECONDS

    async def close(self) -> None:
        self.stop_claiming()
        if self._tasks:
            seconds = self._finish_until - time.monotonic()
            await asyncio.wait(self._tasks, timeout=max(seconds, CLOSE_SECONDS))
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
        self._threads.shutdown(wait=False, cancel_futures=True)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Runs statements on a renewed connection, and once more on a new one if it breaks meanwhile."""
        return await self._run(lambda: _run_twice(work))

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("Work on %s failed unexpectedly", self.name, exc_info=error)


class ThreadedOutbox(Outbox, Generic[K]):
    """Works on each claimed key in a thread of its own, on up to `at_once` keys at the same time.

    `claim(limit=…, under_way=…)` claims due rows for one worker, up to `limit`, but none of those `under_way` in it.
    `record_fault` postpones a key whose work ended with an unexpected error, so that it does not block others.
    """

    def __init__(
        self,
        name: str,
        *,
        claim: Callable[..., Sequence[K]],
        work: Callable[[K], object],
        record_fault: Callable[[K], object] | None = None,
        at_once: int,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        # One thread more, for claims.
        super().__init__(name, threads=at_once + 1)
        self._claim, self._work, self._record_fault = claim, work, record_fault
        self._at_once, self._poll_seconds = at_once, poll_seconds
        self._under_way: set[K] = set()

    async def look(self) -> float:
        free = self._at_once - len(self._under_way)
        if self.is_closing or free <= 0:
            return self._poll_seconds
        claimed = frozenset(self._under_way)
        keys = await self.in_thread(lambda: self._claim(limit=free, under_way=claimed))
        for key in keys:
            self._under_way.add(key)
            self.start(self._work_on(key))
        return 0.0 if len(keys) == free else self._poll_seconds

    async def _work_on(self, key: K) -> None:
        try:
            await self._run(lambda: self._work_in_thread(key))
        finally:
            if len(self._under_way) >= self._at_once:
                self._wake.set()
            self._under_way.discard(key)

    def _work_in_thread(self, key: K) -> None:
        renew_connection()
        try:
            self._work(key)
        except DATABASE_AWAY as error:
            logger.warning("The database is unavailable; %s are repeated: %s: %s", self.name, key, error)
            connection.close()
        except Exception:
            logger.exception("Failed, to be repeated: %s: %s", self.name, key)
            if self._record_fault is not None:
                with suppress(*DATABASE_AWAY):
                    self._record_fault(key)


def _run_twice(work: Callable[[], T]) -> T:
    """Work may then be done twice, but is never lost."""
    renew_connection()
    try:
        return work()
    except DATABASE_AWAY:
        connection.close()
        return work()


class JobRetries(RetryStrategy):
    """Tries jobs again that a stopping worker interrupts, beside those that end with one of `retry_exceptions`.

    Procrastinate marks an interrupted job as aborted, and no worker would run it again. So it is where a worker stood
    still, or where the database changes its primary.
    """

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, CancelledError) or sqlstate(exception) in NOT_SERVED:
            return RetryDecision(retry_in={"seconds": self.wait})
        return super().get_retry_decision(exception=exception, job=job)
