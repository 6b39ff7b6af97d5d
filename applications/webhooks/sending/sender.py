"""Sends deliveries inside one worker process: many at once, few of them to one webhook or of one application.

What is due is found in the table of deliveries and nowhere else: new ones, later tries, what was recovered, what a
killed worker held, what came while its webhook was busy. Nothing has to be kept in step with it, and a crash loses
nothing.
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
from applications.webhooks.sending.connection_limits import Places
from applications.webhooks.sending.signatures import signed_headers
from applications.webhooks.services.delivery_attempts import (
    MOST_AT_ONCE,
    ClaimedDelivery,
    record_attempt,
    take_due_deliveries,
    webhooks_with_due_deliveries,
)
from fulfillment.core.db.clock import DatabaseClock
from fulfillment.core.db.connections import renew_connection

logger = logging.getLogger(__name__)
T = TypeVar("T")

AT_ONCE_WHEN_FAILING = 2
# Half of it is what a new delivery waits on average. With very many webhooks a look takes longer, and then looks are
# rarer, so that they take a quarter of one connection's time at most.
LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.2, 1.0
PAUSE_FOR_EACH_LOOK = 3
CLOSE_SECONDS = 1.0
# After the worker's stop signal; what is interrupted is retried when its lease has ended.
FINISH_SECONDS = 5.0
# The work is waiting; these threads only keep statements from holding up the network.
DATABASE_THREADS = 4


@dataclass(slots=True)
class _Lane:
    """What is under way to one webhook; `more` when something was left waiting."""

    application_id: UUID
    busy: int = 0
    limit: int = MOST_AT_ONCE
    more: bool = False
    is_filling: bool = False


class Sender:
    name = "sender"

    def __init__(self, client: Client) -> None:
        self._client = client
        self._places = Places(
            limit=settings.WEBHOOK_CONNECTIONS, share=settings.WEBHOOK_CONNECTIONS_PER_APPLICATION
        )
        self._lanes: dict[UUID, _Lane] = {}
        self._threads = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="deliveries")
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self._finish_until = 0.0
        # What is due, and whose it is until when, is the same for all workers.
        self._clock = DatabaseClock()

    async def look_for_due(self) -> None:
        """Until cancelled: starts what is due in the table."""
        while True:
            wait, started = LONGEST_LOOK_SECONDS, time.monotonic()
            try:
                for webhook_id, application_id, count in await self._in_thread(self._due):
                    self._fill(webhook_id, self._lane(webhook_id, application_id), count)
                took = time.monotonic() - started
                wait = min(max(LOOK_SECONDS, took * PAUSE_FOR_EACH_LOOK), LONGEST_LOOK_SECONDS)
            except (OperationalError, InterfaceError) as error:
                logger.warning("The database is away; looking again: %s", error)
            await asyncio.sleep(wait)

    def _due(self) -> list[tuple[UUID, UUID, int]]:
        self._clock.set()
        found = webhooks_with_due_deliveries(now=self._clock.now())
        # In another order each time: where places are few, none is always the last.
        random.shuffle(found)
        return found

    def take_no_more(self) -> None:
        """Finishes what is under way; what waits is left to other workers."""
        if not self._is_closing:
            self._is_closing = True
            self._finish_until = time.monotonic() + FINISH_SECONDS

    async def close(self) -> None:
        """Ends what is under way, after a moment to finish; it comes up again when its lease has ended."""
        self.take_no_more()
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

    def _fill(self, webhook_id: UUID, lane: _Lane, due: int = MOST_AT_ONCE) -> None:
        if lane.busy >= lane.limit:
            lane.more = True
        elif not (lane.is_filling or self._is_closing):
            lane.is_filling = True
            self._start(self._take_due(webhook_id, lane, due))

    async def _take_due(self, webhook_id: UUID, lane: _Lane, due: int) -> None:
        reserved = self._places.reserve(
            min(lane.limit - lane.busy, due), webhook_id=webhook_id, application_id=lane.application_id
        )
        places = reserved.count
        lane.busy += places
        lane.more = False
        found: list[ClaimedDelivery] = []
        try:
            if places:
                found = await self._in_thread(
                    lambda: take_due_deliveries(webhook_id=webhook_id, limit=places, now=self._clock.now())
                )
        except (OperationalError, InterfaceError) as error:
            logger.warning("The database is away; deliveries wait: %s", error)
        finally:
            self._places.take(reserved, found)
            lane.busy -= places - len(found)
            lane.is_filling = False
        # Without a place it waits for the next look.
        left = len(found) == places and (places < due or due == MOST_AT_ONCE)
        lane.more = bool(places) and (lane.more or left)
        for taken in found:
            self._start(self._send(taken))
        self._go_on(webhook_id, lane)

    async def _send(self, taken: ClaimedDelivery) -> None:
        lane, started = self._lane(taken.webhook_id, taken.application_id), self._clock.now()
        if taken.is_failing:
            lane.limit = AT_ONCE_WHEN_FAILING
        try:
            answer = await self._ask(taken, started)
            # An endpoint that fails gets fewer places, so that many of them cannot fill the worker.
            lane.limit = MOST_AT_ONCE if answer.is_success else AT_ONCE_WHEN_FAILING
            self._places.record_outcome(taken.webhook_id, is_good=answer.is_success)
            await self._in_thread(
                lambda: record_attempt(taken=taken, answer=answer, started=started, now=self._clock.now())
            )
        except (OperationalError, InterfaceError) as error:
            logger.warning("The database is away; a delivery will be repeated: %s", error)
        finally:
            lane.busy -= 1
            self._places.leave(taken)
            self._go_on(taken.webhook_id, lane)

    async def _ask(self, taken: ClaimedDelivery, now: datetime) -> Answer:
        try:
            headers = signed_headers(
                ciphertexts=taken.ciphertexts, event_id=str(taken.event_id), now=now, body=taken.body
            )
        except InvalidToken:
            return Answer(0, error="The secret cannot be read any more; rotate it.")
        return await self._client.post(taken.url, taken.body, headers)

    def _go_on(self, webhook_id: UUID, lane: _Lane) -> None:
        if lane.more:
            self._fill(webhook_id, lane)
        elif not (lane.busy or lane.is_filling) and lane.limit == MOST_AT_ONCE:
            self._lanes.pop(webhook_id, None)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("A delivery broke off", exc_info=error)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, _twice, work)


def _twice(work: Callable[[], T]) -> T:
    """What was lost while the statement was under way is done again; a delivery may come twice, never not at all."""
    renew_connection()
    try:
        return work()
    except (OperationalError, InterfaceError):
        connection.close()
        return work()
