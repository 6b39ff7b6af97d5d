"""Background tasks of this app."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import OperationalError
from django.utils import timezone
from procrastinate.contrib.django import app

from fulfillment.core.errors import Conflict, TooManyRequests, Unavailable
from fulfillment.core.outbox import Retries
from stores.batches.services import approvals as batch_approvals
from stores.batches.services.checking import check_batch
from stores.batches.services.ordering import ORDER_TASK, write_orders
from stores.batches.services.rows import CHECK_TASK
from stores.batches.services.threads import thread_for_batch
from stores.budgets.services.ledger import check_balances
from stores.catalog.services.uploads import TASK, work_on_catalog_upload
from stores.orders.approvals.services import expire_requests, remind_approvers
from stores.orders.services.simulation import advance_demo_orders

# While the database or the renderers are away or busy; a batch goes on where it was.
AGAIN = Retries(wait=3, retry_exceptions=[OperationalError, Unavailable, TooManyRequests])


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


@app.task(name=TASK, retry=Retries(wait=5, retry_exceptions=[Conflict]))
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
