"""Advisory locks: until a transaction ends, for work that only one process at a time may do, and for long transactions.

A feature's number is its own constant: any that no other feature has, kept so that two releases exclude each other.

Events are read in the order of commits, so an open transaction that may still write some holds later ones back. A
long transaction, such as an import, says with an advisory lock that it writes none, and their reader passes over it.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from django.db import Error, connection, transaction

from fulfillment.core.db.long_statements import uncounted
from fulfillment.core.db.prepared import execute, fetch_row
from fulfillment.core.errors import Conflict

# The application name of connections that only hold a lock.
LOCK_CONNECTION = "fulfillment lock"
TRY_LOCK = """
SELECT set_config('application_name', %s, true), set_config('idle_in_transaction_session_timeout', '0', true),
    pg_try_advisory_xact_lock(%s)
"""
# The two keys of the advisory lock.
LONG_TRANSACTIONS_LOCK = (0x6C6F6E67, 1)


def lock_until_commit(number: int, key: int | None = None) -> None:
    """Waits for the lock, which is released when the transaction ends. With `key`, both are of 32 bits."""
    with uncounted():
        if key is None:
            execute("SELECT pg_advisory_xact_lock(%s)", [number])
        else:
            execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [number, key])


def try_lock_until_commit(number: int) -> bool:
    """Takes the lock unless another transaction has it; returns whether it did."""
    return fetch_row("SELECT pg_try_advisory_xact_lock(%s)", [number]) == (True,)


def lock_number(text: str) -> int:
    """The number, of 64 bits, of a lock that has a text for a name."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


@contextmanager
def lock_of_its_own(number: int) -> Iterator[bool]:
    """Tries to hold a lock while the block runs, in any transactions; yields whether it is ours.

    It is a transaction's, on a connection of its own: a pooler in transaction mode keeps these together, and the lock
    dies with the process. The transaction has no snapshot and no number, so it holds back no cleaning and no event.
    """
    lock = connection.copy()
    try:
        lock.set_autocommit(False)
        with lock.cursor() as cursor:
            cursor.execute(TRY_LOCK, [LOCK_CONNECTION, number])
            is_ours = bool(cursor.fetchone()[-1])
        try:
            yield is_ours
        finally:
            # Closing the connection would free the lock with a delay. After an outage there is none to free.
            with suppress(Error):
                lock.rollback()
    finally:
        lock.close()


@contextmanager
def exclusive_job(work: str) -> Iterator[None]:
    """Holds the lock of `work` until the end; raises Conflict while another process holds it."""
    with lock_of_its_own(lock_number(work)) as is_ours:
        if not is_ours:
            raise Conflict(f"{work} is already running, perhaps on another machine.", code="already_running")
        yield


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
