"""The orders of one store change one after another, so that a walk along them misses nothing."""

from collections.abc import Iterable

from fulfillment.core.db.prepared import execute

LOCKS_OF_ORDERS = 0x0DE5


def lock_orders(*, store_pks: Iterable[int]) -> None:
    """Until the transaction ends; always before any order is locked or written, stores in one order."""
    for store_pk in sorted(set(store_pks)):
        execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [LOCKS_OF_ORDERS, store_pk])
