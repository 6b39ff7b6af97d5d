"""Transactions that write for seconds or minutes, such as imports, and no events.

Events are read in the order of commits, so an open transaction that may still write some holds later ones back. A
long transaction says with an advisory lock that it writes none, and their reader passes over it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import connection, transaction

from fulfillment.core.db.prepared import fetch_row

# The two keys of the advisory lock.
LOCK = (0x6C6F6E67, 1)
_is_long: ContextVar[bool] = ContextVar("is_long", default=False)


@contextmanager
def long_transaction() -> Iterator[None]:
    """An atomic block without events. Inside another atomic block, which may write some, it is an ordinary one."""
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if not is_outermost:
            yield
            return
        fetch_row("SELECT pg_advisory_xact_lock_shared(%s, %s)", LOCK)
        token = _is_long.set(True)
        try:
            yield
        finally:
            _is_long.reset(token)


def check_events_allowed() -> None:
    """Raises TransactionManagementError in a long transaction: readers would miss its events."""
    if _is_long.get():
        raise transaction.TransactionManagementError("A long transaction writes no events.")
