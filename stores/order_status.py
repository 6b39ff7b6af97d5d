"""Hooks that orders call in the transactions that change them."""

from stores.batches.services.personal_data import erase_rows_of_order
from stores.orders.models import Order


def recipient_erased(*, order: Order) -> None:
    erase_rows_of_order(order=order)
