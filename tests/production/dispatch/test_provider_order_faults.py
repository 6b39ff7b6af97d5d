"""Faults while items of one order are one order at the provider: none is lost, doubled, or repeated in haste."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from production.adapters.siteflow import SiteFlowAdapter
from production.dispatch.services import provider_orders
from production.dispatch.services.actions import cancel_job, hold_job, release_job, resend_job
from production.dispatch.services.sending import claim_due_jobs, work_on_job
from production.gang_sheets.models import GangSheet
from production.jobs.models import Attempt, HoldReason, Job, JobState
from production.jobs.services.outcomes import record_fault
from stores.orders.models import Order, OrderStatus
from stores.orders.services.transitions import transition_order
from tests.factories.production import STORE, accept, only_job
from tests.support.production.provider_orders import (
    at,
    cut_once,
    killed_after,
    make_due,
    numbers,
    placed,
    report,
    siteflow,
    states,
    wait_is_over,
    work,
)
from tests.support.production.siteflow import SiteFlow

pytestmark = pytest.mark.django_db


def job(order: Order, item: int) -> Job:
    return only_job(order=order, item__position=item - 1)


def requests(flow: SiteFlow, method: str) -> int:
    return sum(used == method and not path.endswith("validate") for used, path in flow.requests)


@pytest.mark.parametrize("action", [release_job, resend_job])
@pytest.mark.parametrize("item", [1, 2])
def test_item_that_cannot_be_cancelled_holds_the_others_until_one_is_released(
    shop, flow, press, action, item
):
    order = placed(shop)
    cut_once(flow, "before")
    work()
    cancel_job(job=job(order, 1), actor=STORE)
    make_due()
    work()
    make_due()
    work()

    assert set(order.jobs.values_list("held", "next_try")) == {(HoldReason.MANUAL, None)}
    assert f"{order.number}-1, of the same order at Flow, is held" in job(order, 3).message
    assert at(flow) == {}

    action(job=job(order, item), actor=STORE)
    work()
    assert at(flow) == {f"{order.number}-1": numbers(order)}
    assert states(order) == [JobState.SENT] * 3


def test_items_that_wait_for_an_answer_follow_a_printed_one(shop, flow, press):
    order = placed(shop)
    cut_once(flow)
    work()
    report(press, f"{order.number}-1", "printed", sourceItemId=f"{order.number}-3")
    cancel_job(job=job(order, 1), actor=STORE)
    for _ in range(2):
        make_due()
        work()
    assert job(order, 1).held == job(order, 2).held == HoldReason.MANUAL
    release_job(job=job(order, 2), actor=STORE)
    work()

    assert states(order) == [JobState.SENT, JobState.SENT, JobState.IN_PRODUCTION]
    assert at(flow) == {f"{order.number}-1": numbers(order)}


def test_items_of_an_order_on_hold_are_sent_again_together(shop, flow, press):
    order = placed(shop)
    cut_once(flow)
    work()
    transition_order(order=order, status=OrderStatus.ON_HOLD, actor=STORE)
    resend_job(job=job(order, 2), actor=STORE)
    work()

    assert states(order) == [JobState.SENT] * 3
    assert at(flow) == {f"{order.number}-1": numbers(order)}


def test_items_are_held_as_one_of_them_is_until_the_order_is_accepted(shop, flow, press):
    order = placed(shop)
    cut_once(flow)
    work()
    Job.objects.filter(pk=job(order, 1).pk).update(held=HoldReason.ORDER, next_try=None)
    Order.objects.filter(pk=order.pk).update(status=OrderStatus.ON_HOLD)
    make_due()
    work()
    assert set(order.jobs.values_list("held", flat=True)) == {HoldReason.ORDER}

    accept(Order.objects.get(pk=order.pk))
    work()
    assert states(order) == [JobState.SENT] * 3


def test_cancellation_is_repeated_no_sooner_because_of_another_item(shop, flow, press):
    order = placed(shop)
    cut_once(flow)
    work()
    cancel_job(job=job(order, 1), actor=STORE)
    flow.fault = lambda method, path, moment: 503 if method == "PUT" else None
    make_due()
    work()
    assert requests(flow, "PUT") == 1
    Job.objects.filter(order=order, item__position=1).update(next_try=timezone.now())
    work()

    assert requests(flow, "PUT") == 1
    assert job(order, 2).next_try >= job(order, 1).next_try > timezone.now()


def test_report_of_one_cancelled_item_is_of_the_whole_order(shop, flow, press):
    order = placed(shop)
    work()
    first, second, third = numbers(order)
    cancel_job(job=job(order, 2), actor=STORE)
    with killed_after(SiteFlowAdapter, "cancel"):
        work()
    report(press, first, "cancelled", sourceItemId=second)
    make_due()
    work()
    rows = [report(press, first, "cancelled", sourceItemId=number) for number in (first, third)]

    assert {row.outcome for listed in rows for row in listed} == {"Late"}
    again = [f"{first}-2", f"{third}-2"]
    assert at(flow) == {again[0]: again}
    assert states(order) == [JobState.SENT, JobState.CANCELLED, JobState.SENT]


def test_waiting_for_many_items_looks_at_no_more_than_one_order_takes(shop, flow, press, monkeypatch):
    monkeypatch.setattr("production.dispatch.services.provider_orders.MAX_JOBS", 4)
    order = placed(shop, 12)
    for late_job in order.jobs.filter(item__position__gte=2):
        hold_job(job=late_job, actor=STORE)
    looked_at: list[Job] = []
    look = provider_orders._may_come
    monkeypatch.setattr(
        provider_orders, "_may_come", lambda job, *others: looked_at.append(job) or look(job, *others)
    )
    work()
    assert len(looked_at) == 2
    assert "2 of 4 ready" in job(order, 1).message

    make_due()
    with CaptureQueriesContext(connection) as found:
        work()
    saved = [
        query
        for query in found
        if query["sql"].startswith('UPDATE "production_job"') and "rule_id" in query["sql"]
    ]
    assert saved == []  # the providers that were chosen before stay

    looked_at.clear()
    wait_is_over()
    work()
    assert looked_at == []
    assert at(flow) == {f"{order.number}-1": numbers(order, 1, 2)}


def test_item_that_is_sent_by_another_one_is_not_sent_twice_at_once(shop, flow, press, monkeypatch):
    """A request takes only the first item, while the second one is due: another sender leaves the first one alone."""
    monkeypatch.setattr("production.dispatch.services.provider_orders.MAX_JOB_BYTES", 1)
    order = placed(shop, 2)
    first, second = job(order, 1), job(order, 2)
    submit = SiteFlowAdapter.submit

    def beside_another_sender(self, sent):
        assert work_on_job(job_pk=first.pk) is False
        return submit(self, sent)

    monkeypatch.setattr(SiteFlowAdapter, "submit", beside_another_sender)
    assert work_on_job(job_pk=second.pk)
    assert [attempt.outcome for attempt in first.attempts.all()] == ["Sent"]
    assert at(flow) == {first.number: [first.number]}


def test_error_of_our_own_postpones_every_item_of_the_order(shop, flow, press, monkeypatch):
    def broken(self, sent):
        raise RuntimeError

    order = placed(shop)
    submit = SiteFlowAdapter.submit
    monkeypatch.setattr(SiteFlowAdapter, "submit", broken)
    [key, *_] = claim_due_jobs(limit=1)
    with pytest.raises(RuntimeError):
        work_on_job(job_pk=key)
    with CaptureQueriesContext(connection) as found:
        record_fault(job_pk=key)

    locks = [query["sql"] for query in found if "FOR NO KEY UPDATE" in query["sql"]]
    assert 'FROM "stores_order"' in locks[0]
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"Failed"}
    for failed_job in order.jobs.all():
        assert failed_job.is_uncertain
        assert "an internal error" in failed_job.message

    monkeypatch.setattr(SiteFlowAdapter, "submit", submit)
    make_due()
    work()
    assert at(flow) == {f"{order.number}-1": numbers(order)}


def test_item_on_a_gang_sheet_is_left_to_who_sends_the_sheet(shop, flow, press):
    """A sheet's jobs are locked before their orders, so that whoever locks an order first waits for none of them."""
    order = placed(shop)
    sheet = GangSheet.objects.create(
        provider=press,
        product=order.items.first().product,
        store=shop.store,
        kind="a",
        created=timezone.now(),
    )
    Job.objects.filter(pk=job(order, 3).pk).update(gang_sheet=sheet, next_try=None)
    with CaptureQueriesContext(connection) as found:
        work()

    assert at(flow) == {f"{order.number}-1": numbers(order, 1, 2)}
    locks = [query["sql"] for query in found if query["sql"].startswith('SELECT "production_job"."id"')]
    of_all = [sql for sql in locks if "ORDER BY" in sql and "NO KEY UPDATE" in sql]
    assert len(of_all) == 2
    assert all('"gang_sheet_id" IS NULL' in sql for sql in of_all)


@pytest.mark.parametrize("items", [1, 2])
def test_refusal_by_the_check_first_doubles_no_item_that_may_have_arrived(shop, flow, press, items):
    press.choices.get().rule.choices.create(provider=siteflow(flow, "other"), priority=2)
    order = placed(shop, items)
    cut_once(flow)
    work()
    flow.refuses = lambda number: number == f"{order.number}-1"
    make_due()
    work()

    sent = {f"{order.number}-1": numbers(order)[:items]}
    assert at(flow) == sent
    assert set(order.jobs.values_list("held", "is_uncertain")) == {(HoldReason.MANUAL, True)}
    assert "may have it from an earlier attempt" in job(order, items).message

    flow.refuses = None
    resend_job(job=job(order, items), actor=STORE)
    work()
    assert at(flow) == sent
    assert states(order) == [JobState.SENT] * items


def test_refusal_by_the_check_first_does_not_stop_a_cancellation(shop, flow, press, monkeypatch):
    order = placed(shop, 2)
    cut_once(flow)
    work()
    flow.refuses = lambda number: True
    submit = SiteFlowAdapter.submit

    def while_it_is_cancelled(self, sent):
        cancel_job(job=job(order, 1), actor=STORE)
        return submit(self, sent)

    monkeypatch.setattr(SiteFlowAdapter, "submit", while_it_is_cancelled)
    make_due()
    work()

    assert flow.cancelled == {f"{order.number}-1"}
    assert job(order, 1).state == JobState.CANCELLED
    assert (job(order, 2).state, job(order, 2).held) == (JobState.QUEUED, HoldReason.MANUAL)


def test_cancellation_whose_first_answer_was_lost_leaves_no_item_unseen(shop, flow, press):
    """The provider may word a second cancellation as a refusal: nobody knows whether it still has the order."""
    order = placed(shop)
    work()
    cancel_job(job=job(order, 1), actor=STORE)
    flow.fault = lambda method, path, moment: 503 if (method, moment) == ("PUT", "after") else None
    work()
    flow.fault, flow.orders = None, {}
    make_due()
    work()

    assert states(order) == [JobState.FAILED] * 3
    assert "may have cancelled the order" in job(order, 3).message
    resend_job(job=job(order, 2), actor=STORE)
    resend_job(job=job(order, 3), actor=STORE)
    cancel_job(job=job(order, 1), actor=STORE)
    work()
    again = [f"{order.number}-2-2", f"{order.number}-3-2"]
    assert at(flow) == {again[0]: again}
    assert states(order) == [JobState.CANCELLED, JobState.SENT, JobState.SENT]


def test_order_that_goes_on_after_an_unclear_cancellation_follows_its_reports(shop, flow, press):
    order = placed(shop)
    work()
    cancel_job(job=job(order, 1), actor=STORE)
    flow.fault = lambda method, path, moment: 503 if (method, moment) == ("PUT", "before") else None
    work()
    flow.fault, flow.printing = None, {f"{order.number}-1"}
    make_due()
    work()
    assert states(order) == [JobState.FAILED] * 3

    report(press, f"{order.number}-1", "printed")
    assert states(order) == [JobState.IN_PRODUCTION] * 3
