"""`manage.py worker`: runs jobs, sends webhooks and print jobs. Any number of workers may run."""

import asyncio
import contextlib
import logging
import signal
import threading
from argparse import ArgumentParser
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from asgiref.sync import sync_to_async
from django.core.management import BaseCommand, CommandError
from procrastinate import App, exceptions
from procrastinate.contrib.django import app
from psycopg_pool import AsyncConnectionPool

from fulfillment.core.db.connections import note_database_missed
from fulfillment.core.errors import in_one_line
from fulfillment.core.memory import return_freed_memory
from fulfillment.core.observability.telemetry import start_telemetry
from fulfillment.core.outbox import WorkerService
from fulfillment.core.plugins import offered_values
from fulfillment.operations.backups.restoring import refuse_interrupted_restore
from fulfillment.operations.worker_health import (
    DATABASE_ERRORS,
    DuplicateLogFilter,
    Heartbeat,
    RenewingConnector,
    Watchdog,
    WatchedConnector,
    close_own_connection,
    connection_parameters,
    end_at_once,
    is_outage,
    renew_around_job,
)

logger = logging.getLogger("fulfillment.worker")

CONCURRENCY = 200
HEARTBEAT_SECONDS = 10
JOB_POLL_SECONDS = 1
STALLED_SECONDS = 30
RESCUE_SECONDS = 10
# Shorter than the time after which `up` and systemd kill a process.
STOP_SECONDS = 8
# Time for requests under way when the worker stops.
FINISH_SECONDS = 5
# Time after an error until a worker that cannot restart gives up.
GIVE_UP_SECONDS = 30
CANCEL_SECONDS = 0.5
CLOSE_SECONDS = 6
# Threads for jobs that are no coroutines.
JOB_THREADS = 64
NOTIFIED_SECONDS = 2


class Stuck(CommandError):
    """A task did not end, so the worker cannot restart; its supervisor starts another one."""


class Command(BaseCommand):
    help = "Run background jobs and send webhooks until stopped. Any number of workers may run."
    # Django's own look at code, as `manage.py check` does, which also loads all pages; a web process does without.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--concurrency", type=int, default=CONCURRENCY, help=f"jobs at once (default: {CONCURRENCY})"
        )

    def handle(self, *args: Any, concurrency: int, **options: Any) -> None:
        return_freed_memory()
        start_telemetry()
        refuse_interrupted_restore()
        for check in offered_values("operations", "before_start"):
            check()
        calm = DuplicateLogFilter()
        for handler in logging.getLogger().handlers:
            handler.addFilter(calm)
        with app.replace_connector(RenewingConnector()):
            asyncio.run(work(concurrency))


async def work(concurrency: int) -> None:
    """Works until a stop signal; restarts one second after losing the database."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(JOB_THREADS))
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _stop, stop)
    services: list[WorkerService] = [
        service for make in offered_values("worker", "services") for service in make()
    ]
    heartbeat = Heartbeat()
    watchdog = Watchdog(heartbeat)
    watchdog.start()
    try:
        while not stop.is_set():
            await _run_until_error(stop, services, concurrency, heartbeat)
    finally:
        watchdog.stop()
        _exit_in_time()
        await asyncio.gather(*(service.close() for service in services))


def _stop(stop: asyncio.Event) -> None:
    stop.set()
    _exit_in_time()


def _exit_in_time() -> None:
    """Ends the process within STOP_SECONDS, even if a thread hangs."""
    timer = threading.Timer(STOP_SECONDS, _exit_at_once)
    timer.daemon = True
    timer.start()


def _exit_at_once() -> None:
    logger.critical("The worker did not end within %s seconds; leaving at once", STOP_SECONDS)
    end_at_once()


async def _run_until_error(
    stop: asyncio.Event, services: list[WorkerService], concurrency: int, heartbeat: Heartbeat
) -> None:
    stopping = asyncio.create_task(stop.wait())
    opened = _worker_app(heartbeat)
    opening = asyncio.create_task(opened.open_async().__aenter__())
    try:
        await asyncio.wait([stopping, opening], return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            opening.result()
            await _report_missing_notifications()
            await _work_until_error(stopping, opened, services, concurrency)
    except DATABASE_ERRORS as error:
        if is_outage(error):
            note_database_missed(error)
        logger.warning("The worker lost the database; restarting: %s", in_one_line(error.__cause__ or error))
    finally:
        await end_tasks([opening, stopping])
        await _close(opened)
        await sync_to_async(close_own_connection)()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), timeout=1)


async def _report_missing_notifications() -> None:
    """Jobs are found without notifications too, by polling."""
    parameters = connection_parameters()
    async with (
        await psycopg.AsyncConnection.connect(**parameters, autocommit=True) as listening,
        await psycopg.AsyncConnection.connect(**parameters, autocommit=True) as notifying,
    ):
        await listening.execute("LISTEN fulfillment_probe")
        await notifying.execute("NOTIFY fulfillment_probe")
        async for _ in listening.notifies(timeout=NOTIFIED_SECONDS, stop_after=1):
            return
    logger.warning(
        "Notifications of the database do not arrive, so a job may wait for %s s more. Set DATABASE_DIRECT_URL to an "
        "address that leads past the pooler.",
        JOB_POLL_SECONDS,
    )


async def _close(opened: App) -> None:
    closing = asyncio.create_task(opened.close_async(), name="database connections")
    await asyncio.wait([closing], timeout=CLOSE_SECONDS)
    await end_tasks([closing])
    if not closing.cancelled() and (error := closing.exception()):
        logger.warning("Connections to the database ended badly: %s", error)


async def _work_until_error(
    stopping: asyncio.Task[Any], opened: App, services: list[WorkerService], concurrency: int
) -> None:
    jobs = asyncio.create_task(_run_jobs(opened, concurrency), name="jobs")
    loops = [
        *(asyncio.create_task(service.poll_due(), name=service.name) for service in services),
        asyncio.create_task(_rescue_stalled(opened), name="stalled jobs"),
    ]
    finished, _ = await asyncio.wait([stopping, jobs, *loops], return_when=asyncio.FIRST_COMPLETED)
    if stopping in finished:
        for service in services:
            service.stop_claiming()
    # After the first signal jobs may finish; the second interrupts them.
    await asyncio.gather(end_tasks(loops), end_tasks([jobs], patience=FINISH_SECONDS + 1))
    # The first error restarts all. The others are looked at as well, else asyncio logs each with its stack.
    ended = [task for task in (jobs, *loops) if task.done() and not task.cancelled()]
    errors = {task: task.exception() for task in ended}
    for task in finished:
        if error := errors.get(task):
            raise error


async def end_tasks(
    tasks: Iterable[asyncio.Task[Any]], *, patience: float = CANCEL_SECONDS, limit: float = GIVE_UP_SECONDS
) -> None:
    """Cancels the tasks until all have ended: an error of a connection can replace a cancellation."""
    deadline = asyncio.get_running_loop().time() + limit
    pending = {task for task in tasks if not task.done()}
    while pending:
        if asyncio.get_running_loop().time() >= deadline:
            names = ", ".join(sorted(task.get_name() for task in pending))
            raise Stuck(
                f"The worker cannot restart because these do not stop: {names}. Start another worker."
            )
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=patience)


async def _run_jobs(opened: App, concurrency: int) -> None:
    await opened.run_worker_async(
        concurrency=concurrency,
        task_middleware=[renew_around_job],
        fetch_job_polling_interval=JOB_POLL_SECONDS,
        update_heartbeat_interval=HEARTBEAT_SECONDS,
        stalled_worker_timeout=STALLED_SECONDS,
        shutdown_graceful_timeout=FINISH_SECONDS,
        delete_jobs="successful",
        install_signal_handlers=False,
    )


async def _rescue_stalled(opened: App) -> None:
    """Requeues the jobs of workers without a heartbeat, and removes these workers."""
    while True:
        for job in await opened.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
            with contextlib.suppress(exceptions.ConnectorException):
                await opened.job_manager.retry_job(job)
        await opened.job_manager.prune_stalled_workers(STALLED_SECONDS)
        await asyncio.sleep(RESCUE_SECONDS)


def _worker_app(heartbeat: Heartbeat) -> App:
    # Each statement stands alone: without autocommit and with a check of the connection it would be five round trips.
    connector = WatchedConnector(
        heartbeat,
        pool_factory=lambda **options: AsyncConnectionPool(**{**options, "check": None}),
        configure=_configure,
        kwargs=connection_parameters(),
        min_size=1,
        max_size=4,
        timeout=10,
    )
    return app.with_connector(connector)


async def _configure(connection: psycopg.AsyncConnection) -> None:
    await connection.set_autocommit(True)
