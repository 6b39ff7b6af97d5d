"""Nothing of an order on hold is sent until it is accepted again, whatever its jobs go through meanwhile."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.utils import timezone

from fulfillment.core.errors import Conflict
from production.adapters.folder import FolderAdapter
from production.dispatch.services.actions import cancel_job, hold_job, reassign_job, release_job
from production.dispatch.services.reports import receive_reports
from production.dispatch.services.scans import record_scan
from production.interface import ProviderRefused, Report
from production.jobs.models import HoldReason, Job, JobState, ScanStep
from stores.orders.models import Order, OrderStatus
from stores.orders.services.cancellation import cancel_order
from stores.orders.services.transitions import transition_order
from tests.factories.production import (
    STORE,
    accept,
    make_provider,
    make_rule,
    only_job,
    work_off_jobs,
)
from tests.support.production.provider_orders import at, placed, report, states, work

pytestmark = pytest.mark.django_db


def hold_order(order: Order) -> Order:
    return transition_order(order=Order.objects.get(pk=order.pk), status=OrderStatus.ON_HOLD, actor=STORE)


def refuse_after(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """A provider that refuses the job after something was done to it here."""

    def submit(self, job):
        action()
        raise ProviderRefused("No such paper.")

    monkeypatch.setattr(FolderAdapter, "submit", submit)


@pytest.mark.parametrize("status", [OrderStatus.ON_HOLD, OrderStatus.RECEIVED])
def test_job_held_by_a_person_is_not_released_while_its_order_is_on_hold(shop, tmp_path, status):
    make_rule(make_provider(tmp_path))
    order = placed(shop, 1)
    hold_job(job=only_job(), actor=STORE)
    order = hold_order(order)
    if status != order.status:
        order = transition_order(order=order, status=status, actor=STORE)

    with pytest.raises(Conflict, match="accept the order to release it"):
        release_job(job=only_job(), actor=STORE)
    assert work_off_jobs() == 0

    accept(order)
    release_job(job=only_job(), actor=STORE)
    assert work_off_jobs() == 1


def test_items_that_an_order_leaves_behind_at_a_provider_wait_for_it(shop, flow, press):
    order = placed(shop)
    work()
    cancel_job(job=only_job(number=f"{order.number}-2"), actor=STORE)
    hold_order(order)
    work()

    assert states(order) == [JobState.QUEUED, JobState.CANCELLED, JobState.QUEUED]
    assert at(flow) == {}
    assert set(order.jobs.exclude(state=JobState.CANCELLED).values_list("held", flat=True)) == {"Order"}

    accept(Order.objects.get(pk=order.pk))
    work()
    again = [f"{order.number}-1-2", f"{order.number}-3-2"]
    assert at(flow) == {again[0]: again}


def test_items_whose_order_a_provider_cancelled_wait_while_the_order_is_on_hold(shop, flow, press):
    order = placed(shop)
    work()
    Job.objects.filter(number=f"{order.number}-2").update(cancel_requested="2026-01-01T00:00:00Z")
    hold_order(order)
    report(press, f"{order.number}-1", "cancelled")
    work()

    assert states(order) == [JobState.QUEUED, JobState.CANCELLED, JobState.QUEUED]
    assert set(order.jobs.exclude(state=JobState.CANCELLED).values_list("held", flat=True)) == {"Order"}


def test_job_is_cancelled_that_was_held_and_cancelled_while_a_provider_refused_it(
    shop, tmp_path, monkeypatch
):
    make_rule(make_provider(tmp_path))
    order = placed(shop, 1)

    def stop() -> None:
        hold_order(order)
        cancel_order(order=Order.objects.get(pk=order.pk), actor=STORE)

    refuse_after(monkeypatch, stop)
    work_off_jobs()
    work_off_jobs()

    assert (only_job().state, only_job().held, only_job().next_try) == (JobState.CANCELLED, "", None)


def test_missing_pieces_of_an_order_on_hold_are_printed_once_it_is_accepted(shop, tmp_path):
    make_rule(make_provider(tmp_path))
    order = placed(shop, 1)
    work_off_jobs()
    hold_order(order)
    record_scan(job=only_job(), scan_id=uuid4(), step=ScanStep.MISSING, pieces=3, at=None, actor=STORE)
    work_off_jobs()
    assert (only_job().state, only_job().held) == (JobState.QUEUED, HoldReason.ORDER)

    accept(Order.objects.get(pk=order.pk))
    work_off_jobs()
    assert (only_job().state, only_job().pieces) == (JobState.SENT, 3)


def test_failed_job_of_an_order_on_hold_waits_at_another_provider(shop, tmp_path):
    first, second = make_provider(tmp_path), make_provider(tmp_path, "second")
    make_rule(first)
    order = placed(shop, 1)
    work_off_jobs()
    reported = Report("1", only_job().number, JobState.FAILED, timezone.now())
    receive_reports(provider=first, reports=[reported])
    hold_order(order)
    reassign_job(job=only_job(), provider=second, actor=STORE)
    work_off_jobs()
    assert (only_job().state, only_job().held) == (JobState.QUEUED, HoldReason.ORDER)

    accept(Order.objects.get(pk=order.pk))
    work_off_jobs()
    assert (only_job().state, only_job().provider) == (JobState.SENT, second)
