"""Orders and quotes of many items: one of each caller at a time, however many processes serve."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from accounts.callers import Caller
from fulfillment.core.db.locks import session_lock
from fulfillment.core.lanes import LARGE_ORDERS, RETRY_SECONDS, TooManyAtOnce

MANY_ITEMS = 20


@contextmanager
def place_for_items(caller: Caller, count: int) -> Iterator[None]:
    """For the work of an order or quote of so many items: nothing is asked for few."""
    if count <= MANY_ITEMS:
        yield
        return
    number = hashlib.sha256(f"large order of {caller.key}".encode()).digest()[:8]
    with LARGE_ORDERS.place(caller.key), session_lock(int.from_bytes(number, "big", signed=True)) as is_ours:
        if not is_ours:
            message = (
                f"An order or quote of yours with more than {MANY_ITEMS} items is under way; wait for it."
            )
            raise TooManyAtOnce(message, retry_after=RETRY_SECONDS)
        yield
