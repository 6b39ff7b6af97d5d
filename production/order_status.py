"""Hooks that `stores` calls in the transactions that change orders."""

from production.dispatch.services.queueing import follow_order
from production.jobs.services.outcomes import erase_exchanges
from stores.orders.models import Order


def status_changed(*, order: Order) -> None:
    follow_order(order=order)


def recipient_erased(*, order: Order) -> None:
    erase_exchanges(order=order)
