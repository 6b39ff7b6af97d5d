"""`manage.py worker`: runs jobs and sends webhooks; start as many as there is work for."""

import asyncio
import contextlib
import logging
import signal
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from django.core.management import BaseCommand
from django.db import Error as DatabaseError
from procrastinate import App, exceptions
from procrastinate.contrib.django import app
from procrastinate.contrib.django.db_cleanup import close_db_connections
from procrastinate.contrib.django.utils import connector_params
from procrastinate.psycopg_connector import PsycopgConnector
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from applications.webhooks.client import Client
from applications.webhooks.sender import Sender
from fulfillment.telemetry import start_telemetry

logger = logging.getLogger("fulfillment.worker")

CONCURRENCY = 200
HEARTBEAT_SECONDS = 10
STALLED_SECONDS = 30
RESCUE_SECONDS = 10
# Shorter than what `up` and systemd give a process before they kill it.
STOP_SECONDS = 8
# A name server that does not answer holds a thread for as long as its resolver waits.
NAME_THREADS = 64
DATABASE_TROUBLE = (exceptions.ConnectorException, DatabaseError, psycopg.Error, PoolTimeout, OSError)


class Command(BaseCommand):
    help = "Run background jobs and send webhooks, until told to stop. Any number of workers may run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--concurrency", type=int, default=CONCURRENCY, help=f"jobs at once (default: {CONCURRENCY})"
        )

    def handle(self, *args: Any, concurrency: int, **options: Any) -> None:
        start_telemetry()
        asyncio.run(work(concurrency))


async def work(concurrency: int) -> None:
    """Until a signal; what the database throws off begins anew a second later."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(NAME_THREADS))
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    client = Client()
    sender = Sender(client)
    try:
        while not stop.is_set():
            await _run_until_trouble(stop, sender, concurrency)
    finally:
        await sender.close()
        await client.close()


async def _run_until_trouble(stop: asyncio.Event, sender: Sender, concurrency: int) -> None:
    tasks: list[asyncio.Task[Any]] = [asyncio.create_task(stop.wait())]
    try:
        async with _worker_app().open_async() as opened:
            tasks += [
                asyncio.create_task(_run_jobs(opened, sender, concurrency)),
                asyncio.create_task(sender.look_for_due()),
                asyncio.create_task(_rescue_stalled(opened)),
            ]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if stop.is_set():
                sender.take_no_more()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for task in done:
                task.result()
    except DATABASE_TROUBLE as error:
        logger.warning("The database is away; trying again: %s", error)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), timeout=1)


async def _run_jobs(opened: App, sender: Sender, concurrency: int) -> None:
    await opened.run_worker_async(
        concurrency=concurrency,
        additional_context={"sender": sender},
        task_middleware=[close_db_connections],
        fetch_job_polling_interval=1,
        update_heartbeat_interval=HEARTBEAT_SECONDS,
        stalled_worker_timeout=STALLED_SECONDS,
        shutdown_graceful_timeout=STOP_SECONDS,
        delete_jobs="successful",
        install_signal_handlers=False,
    )


async def _rescue_stalled(opened: App) -> None:
    """Puts the jobs of workers that fell silent back into the queue, and forgets those workers."""
    while True:
        for job in await opened.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
            with contextlib.suppress(exceptions.ConnectorException):
                await opened.job_manager.retry_job(job)
        await opened.job_manager.prune_stalled_workers(STALLED_SECONDS)
        await asyncio.sleep(RESCUE_SECONDS)


def _worker_app() -> App:
    # Each statement stands alone: without autocommit and with a check of the connection it would be five round trips.
    connector = PsycopgConnector(
        pool_factory=lambda **options: AsyncConnectionPool(**{**options, "check": None}),
        configure=_configure,
        kwargs={**connector_params(), "prepare_threshold": 3},
        min_size=1,
        max_size=4,
        timeout=10,
    )
    return app.with_connector(connector)


async def _configure(connection: psycopg.AsyncConnection) -> None:
    await connection.set_autocommit(True)
