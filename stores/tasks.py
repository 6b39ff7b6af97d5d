"""What workers do for this app."""

from datetime import timedelta

from django.conf import settings
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
