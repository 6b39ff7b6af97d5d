"""Limits orders and quotes of many items to one at a time for each caller, across all processes."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from accounts.callers import Caller
from fulfillment.core.db.locks import session_lock
from fulfillment.core.errors import TooManyAtOnce
from stores.concurrency_limits import LARGE_ORDERS

MANY_ITEMS = 20


@contextmanager
def large_order_slot(caller: Caller, count: int) -> Iterator[None]:
    """Holds a slot for an order or quote of `count` items; up to MANY_ITEMS need none."""
    if count <= MANY_ITEMS:
        yield
        return
    number = hashlib.sha256(f"large order of {caller.key}".encode()).digest()[:8]
    with (
        LARGE_ORDERS.limited(caller.key),
        session_lock(int.from_bytes(number, "big", signed=True)) as is_ours,
    ):
        if not is_ours:
            message = f"An order or quote of yours with more than {MANY_ITEMS} items is being processed; wait for it."
            raise TooManyAtOnce(message)
        yield
