"""Sends deliveries inside one worker process: many at once, few of them to one webhook or of one application.

Due deliveries are read from their table and nowhere else: new ones, retries, recovered ones, those of a killed worker,
and those that came while their webhook was busy. There is no second queue to keep in step, so a crash loses nothing.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from applications.webhooks.sending.client import Answer, Client
from applications.webhooks.sending.connection_limits import ConnectionSlots
from applications.webhooks.sending.signatures import signed_headers
from applications.webhooks.services.delivery_attempts import (
    MAX_AT_ONCE,
    ClaimedDelivery,
    claim_due_deliveries,
    record_attempt,
    webhooks_with_due_deliveries,
)
from fulfillment.core.db.clock import DatabaseClock
from fulfillment.core.db.connections import renew_connection

logger = logging.getLogger(__name__)
T = TypeVar("T")

AT_ONCE_WHEN_FAILING = 2
# A new delivery waits half of POLL_SECONDS on average. With very many webhooks a poll takes longer; the pause grows
# with it, so that polling takes at most a quarter of one connection's time.
POLL_SECONDS, LONGEST_POLL_SECONDS = 0.15, 1.0
PAUSE_FOR_EACH_POLL = 3
CLOSE_SECONDS = 1.0
# Time to finish after the stop signal; an interrupted delivery is retried when its lease has ended.
FINISH_SECONDS = 5.0
# Statements run in these threads so that they do not block the event loop.
DATABASE_THREADS = 4


@dataclass(slots=True)
class _Lane:
    """Deliveries under way to one webhook; `more`: others wait for a slot."""

    application_id: UUID
    busy: int = 0
    limit: int = MAX_AT_ONCE
    more: bool = False
    is_filling: bool = False


class Sender:
    name = "sender"

    def __init__(self, client: Client) -> None:
        self._client = client
        self._slots = ConnectionSlots(
            limit=settings.WEBHOOK_CONNECTIONS, share=settings.WEBHOOK_CONNECTIONS_PER_APPLICATION
        )
        self._lanes: dict[UUID, _Lane] = {}
        self._threads = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="deliveries")
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self._finish_until = 0.0
        # The database clock, so that all workers agree on what is due and on when leases end.
        self._clock = DatabaseClock()

    async def poll_due(self) -> None:
        """Starts due deliveries until it is cancelled."""
        while True:
            wait, started = LONGEST_POLL_SECONDS, time.monotonic()
            try:
                for webhook_id, application_id, count in await self._in_thread(self._due):
                    self._fill(webhook_id, self._lane(webhook_id, application_id), count)
                took = time.monotonic() - started
                wait = min(max(POLL_SECONDS, took * PAUSE_FOR_EACH_POLL), LONGEST_POLL_SECONDS)
            except (OperationalError, InterfaceError) as error:
                logger.warning("The database is unavailable; polling again: %s", error)
            await asyncio.sleep(wait)

    def _due(self) -> list[tuple[UUID, UUID, int]]:
        found = webhooks_with_due_deliveries()
        if found:
            self._clock.set()
        # Shuffled, so that with few free slots no webhook is always last.
        random.shuffle(found)
        return found

    def stop_claiming(self) -> None:
        """Deliveries under way are finished; waiting ones are left to other workers."""
        if not self._is_closing:
            self._is_closing = True
            self._finish_until = time.monotonic() + FINISH_SECONDS

    async def close(self) -> None:
        """Waits a moment, then cancels what is under way; it is retried when its lease has ended."""
        self.stop_claiming()
        if self._tasks:
            left = self._finish_until - time.monotonic()
            await asyncio.wait(self._tasks, timeout=max(left, CLOSE_SECONDS))
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
        self._threads.shutdown(wait=False, cancel_futures=True)
        await self._client.close()

    def _lane(self, webhook_id: UUID, application_id: UUID) -> _Lane:
        return self._lanes.setdefault(webhook_id, _Lane(application_id))

    def _fill(self, webhook_id: UUID, lane: _Lane, due: int = MAX_AT_ONCE) -> None:
        if lane.busy >= lane.limit:
            lane.more = True
        elif not (lane.is_filling or self._is_closing):
            lane.is_filling = True
            self._start(self._claim_due(webhook_id, lane, due))

    async def _claim_due(self, webhook_id: UUID, lane: _Lane, due: int) -> None:
        reserved = self._slots.reserve(
            min(lane.limit - lane.busy, due), webhook_id=webhook_id, application_id=lane.application_id
        )
        slots = reserved.count
        lane.busy += slots
        lane.more = False
        found: list[ClaimedDelivery] = []
        try:
            if slots:
                found = await self._in_thread(
                    lambda: claim_due_deliveries(webhook_id=webhook_id, limit=slots, now=self._clock.now())
                )
        except (OperationalError, InterfaceError) as error:
            logger.warning("The database is unavailable; deliveries wait: %s", error)
        finally:
            self._slots.assign(reserved, found)
            lane.busy -= slots - len(found)
            lane.is_filling = False
        # Without a slot, deliveries wait for the next poll.
        left = len(found) == slots and (slots < due or due == MAX_AT_ONCE)
        lane.more = bool(slots) and (lane.more or left)
        for delivery in found:
            self._start(self._send(delivery))
        self._continue(webhook_id, lane)

    async def _send(self, delivery: ClaimedDelivery) -> None:
        lane, started = self._lane(delivery.webhook_id, delivery.application_id), self._clock.now()
        if delivery.is_failing:
            lane.limit = AT_ONCE_WHEN_FAILING
        try:
            answer = await self._post(delivery, started)
            # An endpoint that fails gets fewer slots, so that many of them cannot fill the worker.
            lane.limit = MAX_AT_ONCE if answer.is_success else AT_ONCE_WHEN_FAILING
            self._slots.record_outcome(delivery.webhook_id, is_good=answer.is_success)
            await self._in_thread(
                lambda: record_attempt(taken=delivery, answer=answer, started=started, now=self._clock.now())
            )
        except (OperationalError, InterfaceError) as error:
            logger.warning("The database is unavailable; a delivery will be repeated: %s", error)
        finally:
            lane.busy -= 1
            self._slots.release(delivery)
            self._continue(delivery.webhook_id, lane)

    async def _post(self, delivery: ClaimedDelivery, now: datetime) -> Answer:
        try:
            headers = signed_headers(
                ciphertexts=delivery.ciphertexts, event_id=str(delivery.event_id), now=now, body=delivery.body
            )
        except InvalidToken:
            return Answer(0, error="The secret cannot be read any more; rotate it.")
        return await self._client.post(delivery.url, delivery.body, headers)

    def _continue(self, webhook_id: UUID, lane: _Lane) -> None:
        if lane.more:
            self._fill(webhook_id, lane)
        elif not (lane.busy or lane.is_filling) and lane.limit == MAX_AT_ONCE:
            self._lanes.pop(webhook_id, None)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("A delivery failed unexpectedly", exc_info=error)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, _twice, work)


def _twice(work: Callable[[], T]) -> T:
    """Retries once on a new connection. A delivery may be sent twice, but is never lost."""
    renew_connection()
    try:
        return work()
    except (OperationalError, InterfaceError):
        connection.close()
        return work()
