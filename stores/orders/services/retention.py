"""Removes expired quotes, print files of orders that were never written, and old tests with all their data."""

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from applications.webhooks.services.events import remove_order_events
from fulfillment.core.audit.retention import RetentionRule, remove_each, rule_for_rows
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import batches, list_folder
from fulfillment.core.uuid7 import uuid7_time
from stores.orders.models import Order, Quote
from stores.orders.services.changes import lock_orders
from stores.orders.services.print_files import (
    PRINT_FILES,
    delete_ordered_assets,
    erase_print_files,
    print_folder,
)

# Until then an order with the expired quote is answered with a new quote.
QUOTE_RETENTION = timedelta(days=30)
# Younger files may belong to a request that has not committed yet.
YOUNG = timedelta(hours=6)
# One pass along the index, so that ordered quotes, which stay, are read only once.
EXPIRED = """
WITH passed AS MATERIALIZED (
    SELECT id, expires FROM stores_quote
    WHERE (expires, id) > (%(expires)s, %(id)s) AND expires < %(before)s
    ORDER BY expires, id LIMIT %(batch)s
), gone AS (
    DELETE FROM stores_quote WHERE id IN (
        SELECT passed.id FROM passed WHERE NOT EXISTS (SELECT FROM stores_order o WHERE o.quote_id = passed.id)
    ) RETURNING id
)
SELECT (SELECT count(*) FROM gone), expires, id FROM passed ORDER BY expires DESC, id DESC LIMIT 1
"""
# Other orders of these stores wait meanwhile: so many orders go at once, with so many items and changes; or one order.
ORDERS_AT_ONCE, ROWS_AT_ONCE = 100, 500


def retention_rules() -> list[RetentionRule]:
    return [
        RetentionRule("expired quotes", _count_quotes, _remove_quotes),
        RetentionRule("stray print files", _count_print_files, _remove_print_files),
    ]


def _count_quotes() -> int:
    return Quote.objects.filter(expires__lt=timezone.now() - QUOTE_RETENTION, orders=None).count()


def _remove_quotes(batch: int) -> Iterator[int]:
    position: dict[str, Any] = {"expires": datetime.min.replace(tzinfo=UTC), "id": UUID(int=0)}
    position |= {"before": timezone.now() - QUOTE_RETENTION, "batch": batch}
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(EXPIRED, position)
            row = cursor.fetchone()
        if row is None:
            return
        removed, position["expires"], position["id"] = row
        yield removed


def _remove_print_files(batch: int) -> Iterator[int]:
    """These folders are not written again: a retried order gets a new ID."""
    with storage_errors():
        yield from remove_each(_stray_orders(), lambda order_id: erase_print_files(order_id=order_id))


def _count_print_files() -> int:
    with storage_errors():
        return sum(len(list_folder(print_folder(order_id))[1]) for order_id in _stray_orders())


def _stray_orders() -> Iterator[UUID]:
    """The IDs of folders without an order, or of one that was erased, which are not young."""
    before = timezone.now() - YOUNG
    for shard in list_folder(PRINT_FILES)[0]:
        for names in batches(list_folder(f"{PRINT_FILES}/{shard}")[0]):
            old = {UUID(name) for name in names if _is_order_before(name, before)}
            # Files of an erased order may come back with a restore or a move of files.
            needed = Order.objects.filter(pk__in=old, recipient_erased=None).values_list("pk", flat=True)
            yield from sorted(old.difference(needed))


def _is_order_before(name: str, before: datetime) -> bool:
    """Order IDs are UUIDs of version 7, which begin with their time; other names are ignored."""
    with suppress(ValueError):
        order_id = UUID(name)
        placed = uuid7_time(order_id)
        return str(order_id) == name and placed is not None and placed < before
    return False


def rules_for_old_tests() -> list[RetentionRule]:
    return [
        RetentionRule("test orders", lambda: _old_orders().count(), _remove_orders),
        rule_for_rows("test quotes", _old_quotes),
    ]


def _old_orders() -> QuerySet[Order]:
    return Order.objects.filter(is_test=True, created__lt=_before()).order_by("number")


def _old_quotes() -> QuerySet[Quote]:
    return Quote.objects.filter(is_test=True, created__lt=_before(), orders=None)


def _before() -> datetime:
    return timezone.now() - timedelta(days=settings.TEST_RETENTION_DAYS)


def _remove_orders(batch: int) -> Iterator[int]:
    """Deletes the rows before the files: the next run removes files that remain after a crash.

    Events go before the store is locked: those of 71 orders, sent to 20 failing endpoints, took a second.
    """
    while orders := _next_orders(min(batch, ORDERS_AT_ONCE)):
        remove_order_events(order_ids=[order.pk for order in orders])
        removed = _remove_order_rows(orders)
        for order in removed:
            erase_print_files(order_id=order.pk)
        yield len(removed)


def _next_orders(batch: int) -> list[Order]:
    orders = list(_old_orders().only("store", "application", "item_count", "sequence")[:batch])
    rows = list(accumulate(order.item_count + order.sequence for order in orders))
    return orders[: max(1, bisect_right(rows, ROWS_AT_ONCE))]


@transaction.atomic
def _remove_order_rows(candidates: list[Order]) -> list[Order]:
    lock_orders(store_pks={order.store_id for order in candidates})
    keys = [order.pk for order in candidates]
    orders = list(Order.objects.filter(pk__in=keys).order_by("pk").select_for_update(of=("self",)))
    for order in orders:
        delete_ordered_assets(order=order)
    # A younger reprint stays, without its reference to the original order.
    Order.objects.filter(is_test=True, reprint_of__in=keys).update(reprint_of=None)
    Order.objects.filter(pk__in=keys).delete()
    return orders
