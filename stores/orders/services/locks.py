"""Serializes changes of one store's orders, so that paging through them misses none."""

from collections.abc import Iterable

from fulfillment.core.db.prepared import execute

ORDER_LOCKS = 0x0DE5


def lock_orders(*, store_pks: Iterable[int]) -> None:
    """Locks until the transaction ends. Call it before locking or writing any order; stores are locked in one order."""
    for store_pk in sorted(set(store_pks)):
        execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [ORDER_LOCKS, store_pk])
