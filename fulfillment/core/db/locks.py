"""Locks for work that only one process at a time may do, across machines, and for transactions of seconds or minutes.

Events are read in the order of commits, so an open transaction that may still write some holds later ones back. A
long transaction, such as an import, says with an advisory lock that it writes none, and their reader passes over it.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from django.db import DatabaseError, Error, InterfaceError, connection, transaction

from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import Conflict

# The application name of connections that only hold a lock.
LOCK_CONNECTION = "fulfillment lock"


@contextmanager
def exclusive_job(work: str) -> Iterator[None]:
    """Holds the lock of `work` until the end; raises Conflict while another process holds it.

    The lock belongs to a connection of its own and dies with the process.
    """
    number = int.from_bytes(hashlib.sha256(work.encode()).digest()[:8], "big", signed=True)
    lock = connection.copy()
    try:
        with lock.cursor() as cursor:
            cursor.execute("SELECT set_config('application_name', %s, false)", [LOCK_CONNECTION])
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [number])
            if not cursor.fetchone()[0]:
                raise Conflict(
                    f"{work} is running already, perhaps on another machine.", code="already_running"
                )
            try:
                yield
            finally:
                # Closing the connection would free the lock with a delay.
                with suppress(Error):
                    cursor.execute("SELECT pg_advisory_unlock(%s)", [number])
    finally:
        lock.close()


@contextmanager
def session_lock(number: int) -> Iterator[bool]:
    """Tries to hold a lock of this thread's connection, with which it ends; yields whether it is ours."""
    is_ours = fetch_row("SELECT pg_try_advisory_lock(%s)", [number]) == (True,)
    try:
        yield is_ours
    finally:
        if is_ours:
            try:
                fetch_row("SELECT pg_advisory_unlock(%s)", [number])
            except (DatabaseError, InterfaceError):
                # A broken connection is no problem: its lock ends with it.
                connection.close()


# The two keys of the advisory lock.
LONG_TRANSACTIONS_LOCK = (0x6C6F6E67, 1)
_is_long: ContextVar[bool] = ContextVar("is_long", default=False)


@contextmanager
def long_transaction() -> Iterator[None]:
    """An atomic block without events. Inside another atomic block, which may write some, it is an ordinary one."""
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if not is_outermost:
            yield
            return
        fetch_row("SELECT pg_advisory_xact_lock_shared(%s, %s)", LONG_TRANSACTIONS_LOCK)
        token = _is_long.set(True)
        try:
            yield
        finally:
            _is_long.reset(token)


def check_events_allowed() -> None:
    """Raises TransactionManagementError in a long transaction: readers would miss its events."""
    if _is_long.get():
        raise transaction.TransactionManagementError("A long transaction writes no events.")
