"""A sheet is planned, and what comes of it is recorded, while orders of its jobs change."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from production.gang_sheets.models import GangSheet, SheetState
from production.gang_sheets.services import sending
from production.jobs.models import Job, JobState
from stores.orders.models import Order, OrderStatus
from stores.orders.services.transitions import transition_order
from tests.factories.production import STORE, make_provider, make_rule, work_off_jobs
from tests.support.orders.shop import Shop
from tests.support.patience import wait_for
from tests.support.production.provider_orders import placed

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def _move(order: Order, status: OrderStatus) -> Order:
    try:
        return transition_order(order=order, status=status, actor=STORE)
    finally:
        connection.close()


def _others_wait() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


def _on_one_sheet(shop: Shop, folder: Path) -> list[Order]:
    make_rule(make_provider(folder, settings={"gang_sheets": "sheetwise", "gang_wait": 30}))
    orders = [placed(shop, 1) for _ in range(2)]
    work_off_jobs()
    return orders


def test_order_is_put_on_hold_while_its_sheet_is_recorded(shop, tmp_path, monkeypatch):
    orders = _on_one_sheet(shop, tmp_path)
    GangSheet.objects.update(next_try=timezone.now())
    record_each, held = sending.record_each, list[Future[Order]]()

    with ThreadPoolExecutor(1) as threads:

        def record(*args, **values):
            held.append(threads.submit(_move, orders[1], OrderStatus.ON_HOLD))
            wait_for(_others_wait)
            record_each(*args, **values)

        monkeypatch.setattr(sending, "record_each", record)
        work_off_jobs()
        assert held[0].result().status == OrderStatus.ON_HOLD

    assert set(Job.objects.values_list("state", flat=True)) == {JobState.SENT}


def test_order_is_accepted_while_its_job_leaves_its_sheet(shop, tmp_path, monkeypatch):
    order = _on_one_sheet(shop, tmp_path)[1]
    # Its job was on the way when it was put on hold.
    Order.objects.filter(pk=order.pk).update(status=OrderStatus.ON_HOLD)
    GangSheet.objects.update(next_try=timezone.now())
    keep, accepted = sending._keep_remaining, list[Future[Order]]()

    with ThreadPoolExecutor(1) as threads:

        def keep_remaining(sheet, jobs):
            accepted.append(threads.submit(_move, order, OrderStatus.ACCEPTED))
            wait_for(lambda: _others_wait() or accepted[0].done())
            return keep(sheet, jobs)

        monkeypatch.setattr(sending, "_keep_remaining", keep_remaining)
        work_off_jobs()
        assert accepted[0].result().status == OrderStatus.ACCEPTED

    assert set(Job.objects.values_list("held", flat=True)) == {""}


def test_job_finds_a_sheet_after_others_opened_and_closed_one(shop, tmp_path, monkeypatch):
    make_rule(make_provider(tmp_path, settings={"gang_sheets": "sheetwise", "gang_wait": 30}))
    placed(shop, 1)
    create = GangSheet.objects.create

    def create_late(**values):
        monkeypatch.setattr(GangSheet.objects, "create", create)
        _in_thread(lambda: create(**values))
        try:
            return create(**values)
        except IntegrityError:
            _in_thread(lambda: GangSheet.objects.update(state=SheetState.PLANNED))
            raise

    monkeypatch.setattr(GangSheet.objects, "create", create_late)
    work_off_jobs()

    assert Job.objects.get().gang_sheet.state == SheetState.COLLECTING
    assert GangSheet.objects.count() == 2


def _in_thread(work: Callable[[], object]) -> None:
    """By a connection of its own."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        threads.submit(run).result()
