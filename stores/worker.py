"""Runs the stories of test orders beside the jobs of a worker."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID

from django.db import InterfaceError, OperationalError

from fulfillment.core.db.connections import run_in_thread
from stores.orders.services.story_steps import due_stories, postpone_step, run_step

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.2
PAUSE_SECONDS = 2.0


class StoryPlayer:
    """Runs steps one after another in one thread; none of them is urgent."""

    name = "test order stories"

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="stories")
        self._is_closing = False

    async def poll_due(self) -> None:
        """Runs due steps until it is cancelled."""
        while True:
            wait = POLL_SECONDS
            try:
                for order_id in await run_in_thread(self._thread, due_stories):
                    if not self._is_closing:
                        await run_in_thread(self._thread, partial(_take_step, order_id))
            except (OperationalError, InterfaceError) as error:
                logger.warning("The database is away; test orders wait: %s", error)
                wait = PAUSE_SECONDS
            await asyncio.sleep(wait)

    def stop_claiming(self) -> None:
        self._is_closing = True

    async def close(self) -> None:
        self.stop_claiming()
        self._thread.shutdown(wait=False, cancel_futures=True)


def _take_step(order_id: UUID) -> None:
    """Runs one step. A failed step is postponed and does not block others."""
    try:
        run_step(order_id=order_id)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("A step of test order %s failed; it is repeated", order_id)
        postpone_step(order_id=order_id)


def companion() -> StoryPlayer:
    """Called in the worker's event loop."""
    return StoryPlayer()
