"""What comes of a sheet is recorded while orders of its jobs change."""

from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone

from production.gang_sheets.models import GangSheet
from production.gang_sheets.services import sending
from production.jobs.models import Job, JobState
from stores.orders.models import Order, OrderStatus
from stores.orders.services.transitions import transition_order
from tests.factories.production import STORE, make_provider, make_rule, work_off_jobs
from tests.support.patience import wait_for
from tests.support.production.provider_orders import placed

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def _hold(order: Order) -> Order:
    try:
        return transition_order(order=order, status=OrderStatus.ON_HOLD, actor=STORE)
    finally:
        connection.close()


def _others_wait() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


def test_order_is_put_on_hold_while_its_sheet_is_recorded(shop, tmp_path, monkeypatch):
    make_rule(make_provider(tmp_path, settings={"gang_sheets": "sheetwise", "gang_wait": 30}))
    orders = [placed(shop, 1) for _ in range(2)]
    work_off_jobs()
    GangSheet.objects.update(next_try=timezone.now())
    record_each, held = sending.record_each, list[Future[Order]]()

    with ThreadPoolExecutor(1) as threads:

        def record(*args, **values):
            held.append(threads.submit(_hold, orders[1]))
            wait_for(_others_wait)
            record_each(*args, **values)

        monkeypatch.setattr(sending, "record_each", record)
        work_off_jobs()
        assert held[0].result().status == OrderStatus.ON_HOLD

    assert set(Job.objects.values_list("state", flat=True)) == {JobState.SENT}
