"""What workers do for this app."""

from datetime import timedelta

from django.conf import settings
from django.core.management import call_command
from procrastinate.contrib.django import app

from stores.services.order_moves import advance_demo_orders


@app.periodic(cron="* * * * * */5")
@app.task(
    name="stores.advance_demo_orders",
    lock="stores.advance_demo_orders",
    queueing_lock="stores.advance_demo_orders",
)
def advance_orders(timestamp: int) -> None:
    if settings.DEMO_ADVANCE_SECONDS:
        advance_demo_orders(older_than=timedelta(seconds=settings.DEMO_ADVANCE_SECONDS))


@app.periodic(cron="17 3 * * *")
@app.task(name="stores.prune", lock="stores.prune", queueing_lock="stores.prune")
def prune(timestamp: int) -> None:
    call_command("prune")
