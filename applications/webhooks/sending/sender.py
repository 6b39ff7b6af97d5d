"""Sends deliveries inside one worker process: many at once, few of them to one webhook or of one application."""

import logging
import random
import time
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings

from applications.webhooks.selectors.signatures import signed_headers
from applications.webhooks.sending.client import EndpointClient
from applications.webhooks.sending.slots import ConnectionSlots
from applications.webhooks.services.delivery_attempts import (
    MAX_AT_ONCE,
    ClaimedDelivery,
    DueWebhook,
    EndpointResponse,
    claim_due_deliveries,
    record_attempt,
    webhooks_with_due_deliveries,
)
from fulfillment.core.db.prepared import DatabaseClock
from fulfillment.core.outbox import DATABASE_AWAY, Outbox
from fulfillment.core.secrets import SecretUnreadable

logger = logging.getLogger(__name__)

AT_ONCE_WHEN_FAILING = 2
# A new delivery waits half of POLL_SECONDS on average. With very many webhooks a poll takes longer; the pause grows
# with it, so that polling takes at most a quarter of one connection's time.
POLL_SECONDS, MAX_POLL_SECONDS = 0.15, 1.0
PAUSE_FOR_EACH_POLL = 3
# Statements run in these threads so that they do not block the event loop.
DATABASE_THREADS = 4


@dataclass(slots=True)
class _Lane:
    """Deliveries under way to one webhook; `others_wait` for a slot."""

    application_id: UUID
    person_id: UUID
    busy: int = 0
    limit: int = MAX_AT_ONCE
    others_wait: bool = False
    is_filling: bool = False


class Sender(Outbox):
    def __init__(self, client: EndpointClient) -> None:
        super().__init__("webhooks", threads=DATABASE_THREADS)
        self._client = client
        self._slots = ConnectionSlots(
            limit=settings.WEBHOOK_CONNECTIONS, share=settings.WEBHOOK_CONNECTIONS_PER_APPLICATION
        )
        self._lanes: dict[UUID, _Lane] = {}
        # The database clock, so that all workers agree on what is due and on when leases end.
        self._clock = DatabaseClock()

    async def look(self) -> float:
        started = time.monotonic()
        for webhook in await self.in_thread(self._due):
            lane = self._lanes.setdefault(webhook.id, _Lane(webhook.application_id, webhook.person_id))
            self._fill(webhook.id, lane, webhook.due_count)
        took = time.monotonic() - started
        return min(max(POLL_SECONDS, took * PAUSE_FOR_EACH_POLL), MAX_POLL_SECONDS)

    async def close(self) -> None:
        await super().close()
        await self._client.close()

    def _due(self) -> list[DueWebhook]:
        webhooks = webhooks_with_due_deliveries()
        if webhooks:
            self._clock.set()
        # Shuffled, so that with few free slots no webhook is always last.
        random.shuffle(webhooks)
        return webhooks

    def _fill(self, webhook_id: UUID, lane: _Lane, due: int = MAX_AT_ONCE) -> None:
        if lane.busy >= lane.limit:
            lane.others_wait = True
        elif not (lane.is_filling or self.is_closing):
            lane.is_filling = True
            self.start(self._claim_due(webhook_id, lane, due))

    async def _claim_due(self, webhook_id: UUID, lane: _Lane, due: int) -> None:
        reserved = self._slots.reserve(
            min(lane.limit - lane.busy, due),
            webhook_id=webhook_id,
            application_id=lane.application_id,
            person_id=lane.person_id,
        )
        slots = reserved.count
        lane.busy += slots
        lane.others_wait = False
        claimed: list[ClaimedDelivery] = []
        try:
            if slots:
                claimed = await self.in_thread(
                    lambda: claim_due_deliveries(webhook_id=webhook_id, limit=slots, now=self._clock.now())
                )
        except DATABASE_AWAY as error:
            logger.warning("The database is unavailable; deliveries wait: %s", error)
        finally:
            self._slots.assign(reserved, claimed)
            lane.busy -= slots - len(claimed)
            lane.is_filling = False
        # Without a slot, deliveries wait for the next poll.
        are_more_due = len(claimed) == slots and (slots < due or due == MAX_AT_ONCE)
        lane.others_wait = bool(slots) and (lane.others_wait or are_more_due)
        for delivery in claimed:
            self.start(self._send(delivery))
        self._continue(webhook_id, lane)

    async def _send(self, delivery: ClaimedDelivery) -> None:
        lane, started = self._lanes[delivery.webhook_id], self._clock.now()
        if delivery.is_failing:
            lane.limit = AT_ONCE_WHEN_FAILING
        try:
            response = await self._post(delivery, started)
            # An endpoint that fails gets fewer slots, so that many of them cannot fill the worker.
            lane.limit = MAX_AT_ONCE if response.is_success else AT_ONCE_WHEN_FAILING
            self._slots.record_outcome(delivery.webhook_id, is_good=response.is_success)
            await self.in_thread(
                lambda: record_attempt(
                    claimed=delivery, response=response, started=started, now=self._clock.now()
                )
            )
        except DATABASE_AWAY as error:
            logger.warning("The database is unavailable; a delivery will be repeated: %s", error)
        finally:
            lane.busy -= 1
            self._slots.release(delivery)
            self._continue(delivery.webhook_id, lane)

    async def _post(self, delivery: ClaimedDelivery, now: datetime) -> EndpointResponse:
        try:
            headers = signed_headers(
                ciphertexts=delivery.ciphertexts, event_id=str(delivery.event_id), now=now, body=delivery.body
            )
        except SecretUnreadable:
            return EndpointResponse(0, error="The secret can no longer be read. Rotate it.")
        return await self._client.post(delivery.url, delivery.body, headers)

    def _continue(self, webhook_id: UUID, lane: _Lane) -> None:
        if lane.others_wait:
            self._fill(webhook_id, lane)
        elif not (lane.busy or lane.is_filling) and lane.limit == MAX_AT_ONCE:
            self._lanes.pop(webhook_id, None)
