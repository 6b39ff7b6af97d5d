"""A report on several orders is taken as a whole while others change these orders."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from stores.orders.models import Order, OrderStatus
from stores.orders.services.status_import import LineOutcome, ReportedStatus, import_order_statuses
from tests.factories.production import accept
from tests.support.patience import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def import_as_a_whole(numbers: list[int]) -> set[LineOutcome]:
    try:
        reported = [
            ReportedStatus(line, number=str(number), status="40") for line, number in enumerate(numbers)
        ]
        return {result.outcome for result in import_order_statuses(reported=reported, all_or_nothing=True)}
    finally:
        connection.close()


def others_wait() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


def test_import_waits_for_a_sheet_that_has_locked_one_of_its_orders(shop):
    first, second = sorted(
        (accept(shop.place().json()["OrderID"]) for _ in range(2)), key=lambda order: order.pk
    )
    locked = Order.objects.select_for_update(no_key=True, nowait=True)

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            locked.get(pk=first.pk)
            imported = threads.submit(import_as_a_whole, [second.number, first.number])
            wait_for(others_wait)
            # As the sheet goes on: it would be a deadlock if the import had this one.
            locked.get(pk=second.pk)
        assert imported.result() == {LineOutcome.MOVED}

    assert set(Order.objects.values_list("status", flat=True)) == {OrderStatus.IN_PRODUCTION}
