"""Removes old test orders and test quotes with all their data."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from applications.webhooks.services.events import remove_order_events
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from stores.orders.models import Order, Quote
from stores.orders.services.locks import lock_orders
from stores.orders.services.ordered_assets import delete_ordered_assets
from stores.orders.services.print_files import erase_print_files

# Other orders of these stores wait meanwhile.
ORDERS_AT_ONCE = 100


def retention_rules() -> list[RetentionRule]:
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
    """Deletes the rows first; the next run removes print files that remain after a crash."""
    while removed := _remove_order_rows(min(batch, ORDERS_AT_ONCE)):
        for order in removed:
            erase_print_files(order_id=order.pk)
        yield len(removed)


@transaction.atomic
def _remove_order_rows(batch: int) -> list[Order]:
    found = list(_old_orders().only("store", "application")[:batch])
    lock_orders(store_pks={order.store_id for order in found})
    keys = [order.pk for order in found]
    orders = list(Order.objects.filter(pk__in=keys).order_by("number").select_for_update(of=("self",)))
    for order in orders:
        delete_ordered_assets(order=order)
    # A younger reprint stays, without its reference to the original order.
    Order.objects.filter(is_test=True, reprint_of__in=keys).update(reprint_of=None)
    remove_order_events(order_ids=keys)
    Order.objects.filter(pk__in=keys).delete()
    return orders
