"""The tasks of stores that workers run."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import OperationalError
from django.utils import timezone
from procrastinate.contrib.django import app

from fulfillment.core.errors import Conflict, ServiceBusy, TooManyRequests, Unavailable
from fulfillment.core.outbox import JobRetries
from stores.batches.services import approvals as batch_approvals
from stores.batches.services.checking import check_batch
from stores.batches.services.ordering import ORDER_TASK, write_orders
from stores.batches.services.rows import CHECK_TASK
from stores.budgets.services.ledger import check_balances
from stores.catalog.services.uploads import TASK, work_on_catalog_upload
from stores.orders.services.approvals import expire_requests, remind_approvers
from stores.orders.services.simulation import advance_demo_orders

# While the database or the renderers are away or busy; a batch goes on where it was.
AGAIN = JobRetries(wait=3, retry_exceptions=[OperationalError, Unavailable, TooManyRequests])
# Batches take turns, so that mails and other people's batches go on: a quarter of a worker's threads for jobs, and more
# than draw at once.
THREADS, SECONDS = 16, 60.0
_free = threading.BoundedSemaphore(THREADS)


@contextmanager
def thread_for_batch() -> Iterator[Callable[[], None]]:
    """Holds one of the threads for batches, and yields a function to call between rows.

    Raises ServiceBusy if no thread is free; the job is then tried again. The function raises it too, once the job has
    had SECONDS and another batch may be waiting.
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


@app.periodic(cron="* * * * * */5")
@app.task(
    name="stores.advance_demo_orders",
    lock="stores.advance_demo_orders",
    queueing_lock="stores.advance_demo_orders",
)
def advance_orders(timestamp: int) -> None:
    if settings.DEMO_ADVANCE_SECONDS:
        advance_demo_orders(older_than=timedelta(seconds=settings.DEMO_ADVANCE_SECONDS))


@app.periodic(cron="* * * * *")
@app.task(name="stores.follow_approvals", queueing_lock="stores.follow_approvals")
def follow_approvals(timestamp: int) -> None:
    now = timezone.now()
    remind_approvers(now=now)
    expire_requests(now=now)
    batch_approvals.remind_approvers(now=now)
    batch_approvals.expire_approvals(now=now)


@app.task(name=TASK, retry=JobRetries(wait=5, retry_exceptions=[Conflict]))
def work_on_upload(*, upload_id: int) -> None:
    """Tries again every five seconds while a command is changing the catalog."""
    work_on_catalog_upload(upload_id=upload_id)


@app.task(name=CHECK_TASK, retry=AGAIN)
def check_rows(*, batch_id: str, from_end: bool = False) -> None:
    with thread_for_batch() as go_on:
        check_batch(batch_id=UUID(batch_id), from_end=from_end, go_on=go_on)


@app.task(name=ORDER_TASK, retry=AGAIN)
def order_rows(*, batch_id: str) -> None:
    with thread_for_batch() as go_on:
        write_orders(batch_id=UUID(batch_id), go_on=go_on)


@app.periodic(cron="41 2 * * *")
@app.task(name="stores.check_budgets", queueing_lock="stores.check_budgets")
def check_budgets(timestamp: int) -> None:
    check_balances()
