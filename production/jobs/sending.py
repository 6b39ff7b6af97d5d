"""Sends jobs and polls reports, beside the other work of a worker.

Due jobs are read from their table and nowhere else: new ones, retries, and those of a killed worker.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from django.db import InterfaceError, OperationalError, connection

from fulfillment.core.db.connections import run_in_thread
from production.jobs.services.gang_sending import claim_due_sheets, record_sheet_fault, work_on_sheet
from production.jobs.services.outcomes import record_fault
from production.jobs.services.polling import claim_providers_to_poll, poll_provider
from production.jobs.services.sending import claim_due_jobs, work_on_job

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.2
PAUSE_SECONDS = 2.0
PROVIDER_POLL_SECONDS = 1.0
JOB_THREADS = 8
# Each provider has a thread of its own while it is polled, up to so many.
POLL_THREADS = 16


class JobSender:
    """Sends several jobs at once; a slow provider occupies half of the threads at most (`services.slots`)."""

    name = "print jobs"

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(JOB_THREADS + 1, thread_name_prefix="print-jobs")
        self._pollers = ThreadPoolExecutor(POLL_THREADS + 1, thread_name_prefix="print-reports")
        self._busy: set[asyncio.Task[None]] = set()
        self._polling: dict[int, asyncio.Task[None]] = {}
        self._is_closing = False

    async def poll_due(self) -> None:
        """Until cancelled."""
        next_poll = 0.0
        while True:
            wait = POLL_SECONDS
            try:
                wait = await self._look()
                if time.monotonic() >= next_poll:
                    next_poll = time.monotonic() + PROVIDER_POLL_SECONDS
                    await self._poll_reports()
            except (OperationalError, InterfaceError) as error:
                logger.warning("The database is away; print jobs wait: %s", error)
                wait = PAUSE_SECONDS
            await asyncio.sleep(wait)

    async def _look(self) -> float:
        free = JOB_THREADS - len(self._busy)
        if self._is_closing or free <= 0:
            return 0.02
        found = await run_in_thread(self._threads, partial(claim_due_jobs, limit=free))
        for key in found:
            self._start(partial(_work, key))
        if len(found) < free:
            # One at a time, because a sheet takes many pages and much memory.
            for key in await run_in_thread(self._threads, partial(claim_due_sheets, limit=1)):
                self._start(partial(_work_on_sheet, key))
        return 0.01 if len(found) == free else POLL_SECONDS

    async def _poll_reports(self) -> None:
        free = POLL_THREADS - len(self._polling)
        if self._is_closing or free <= 0:
            return
        claim = partial(claim_providers_to_poll, limit=free, polled=list(self._polling))
        for key in await run_in_thread(self._pollers, claim):
            task = asyncio.get_running_loop().create_task(run_in_thread(self._pollers, partial(_poll, key)))
            self._polling[key] = task
            task.add_done_callback(partial(self._end_poll, key))

    def _end_poll(self, key: int, task: asyncio.Task[None]) -> None:
        del self._polling[key]

    def stop_claiming(self) -> None:
        self._is_closing = True

    async def close(self) -> None:
        """Stops sending; interrupted jobs are retried when their lease has ended."""
        self.stop_claiming()
        if under_way := [*self._busy, *self._polling.values()]:
            await asyncio.wait(under_way, timeout=5)
        for threads in (self._threads, self._pollers):
            threads.shutdown(wait=False, cancel_futures=True)

    def _start(self, work: Callable[[], None]) -> None:
        task = asyncio.get_running_loop().create_task(run_in_thread(self._threads, work))
        self._busy.add(task)
        task.add_done_callback(self._busy.discard)


def _work(job_pk: int) -> None:
    _run(f"print job {job_pk}", partial(work_on_job, job_pk=job_pk), partial(record_fault, job_pk=job_pk))


def _work_on_sheet(sheet_pk: int) -> None:
    _run(
        f"gang sheet {sheet_pk}",
        partial(work_on_sheet, sheet_pk=sheet_pk),
        partial(record_sheet_fault, sheet_pk=sheet_pk),
    )


def _poll(provider_pk: int) -> None:
    _run(f"poll of provider {provider_pk}", partial(poll_provider, provider_pk=provider_pk))


def _run(what: str, work: Callable[[], object], record: Callable[[], object] | None = None) -> None:
    """An unexpected error is logged and recorded, which postpones this work and does not block others."""
    try:
        work()
    except (OperationalError, InterfaceError) as error:
        logger.warning("The database is away; %s is repeated: %s", what, error)
        connection.close()
    except Exception:
        logger.exception("Failed, to be repeated: %s", what)
        try:
            if record is not None:
                record()
        except (OperationalError, InterfaceError):
            connection.close()
