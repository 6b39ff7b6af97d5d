"""Items of one order are one order with one shipment at a provider that takes several: none lost, none doubled."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from fulfillment.core.db.locks import lock_of_its_own
from fulfillment.core.errors import Conflict
from production.adapters.siteflow import SiteFlowAdapter
from production.dispatch.services.actions import cancel_job, hold_job, reassign_job, release_job
from production.dispatch.services.dry_runs import dry_run
from production.dispatch.services.provider_orders import PROVIDER_ORDER_LOCKS
from production.dispatch.services.sending import claim_due_jobs, work_on_job
from production.interface import MAX_JOBS
from production.jobs.models import Attempt, Job, JobState
from production.providers.models import Provider
from stores.orders.models import OrderItem, OrderStatus
from stores.orders.services.cancellation import cancel_order
from tests.factories.orders import card_data, make_card, order_body
from tests.factories.production import STORE, accept, make_provider, make_rule, only_job
from tests.support.production.provider_orders import (
    ORDER,
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
from tests.support.production.siteflow import running_siteflow
from tests.support.scenario import sign_in

pytestmark = pytest.mark.django_db


def test_items_of_one_order_are_one_order_with_one_shipment(shop, flow, press):
    order = placed(shop)
    assert work() == 1
    assert work() == 0

    assert at(flow) == {f"{order.number}-1": numbers(order)}
    [data] = flow.orders.values()
    assert [item["shipmentIndex"] for item in data["items"]] == [0, 0, 0]
    assert len(data["shipments"]) == 1
    assert [item["extraData"]["item"] for item in data["items"]] == ["1 of 3", "2 of 3", "3 of 3"]
    assert data["extraData"]["siblings"] == []
    for job in order.jobs.all():
        assert (job.state, job.reference) == (JobState.SENT, f"of-{order.number}-1")
        assert [attempt.outcome for attempt in job.attempts.all()] == ["Sent"]
        assert job.history.last().note == f"In one order: {', '.join(numbers(order))}."


def test_order_of_one_item_and_items_for_a_folder_are_sent_alone(shop, flow, press, tmp_path):
    single = placed(shop, 1)
    work()
    assert at(flow) == {f"{single.number}-1": [f"{single.number}-1"]}
    assert only_job(order=single).provider_order == ""

    press.choices.update(provider=make_provider(tmp_path))
    order = placed(shop, 2)
    assert work() == 2
    assert states(order) == [JobState.SENT] * 2
    assert set(order.jobs.values_list("provider_order", flat=True)) == {""}


def test_shipped_order_is_one_parcel_with_all_items_and_ships_the_order_at_once(shop, flow, press):
    order = placed(shop)
    work()
    number = f"{order.number}-1"
    rows = report(press, number, "printready")
    assert [row.outcome for row in rows] == ["Applied"] * 3
    assert states(order) == [JobState.IN_PRODUCTION] * 3

    report(press, number, "shipped", carrier="UPS", trackingNumber="1Z1")
    again = report(press, number, "shipped", carrier="UPS", trackingNumber="1Z1")

    assert {row.outcome for row in again} == {"Late"}
    assert states(order) == [JobState.SHIPPED] * 3
    [shipment] = order.shipments.all()
    keys = list(order.items.order_by("position").values_list("item_key", flat=True))
    assert (shipment.tracking_number, shipment.item_keys) == ("1Z1", keys)
    order.refresh_from_db()
    assert order.status == OrderStatus.SHIPPED
    assert OrderStatus.PARTIALLY_SHIPPED not in order.history.values_list("status", flat=True)


def test_report_on_an_item_moves_its_job_alone(shop, flow, press):
    order = placed(shop)
    work()
    first, second, _ = numbers(order)
    report(press, first, "printed", sourceItemId=second)
    assert states(order) == [JobState.SENT, JobState.IN_PRODUCTION, JobState.SENT]

    report(press, first, "errored", sourceItemId=second, message="Plate broken")
    assert states(order) == [JobState.SENT, JobState.FAILED, JobState.SENT]


def test_lost_answer_is_followed_by_the_same_items_under_the_same_number(shop, flow, press):
    """An item that became ready meanwhile is not among them: Site Flow would never look at it."""
    order = placed(shop)
    held = hold_job(job=only_job(number=f"{order.number}-3"), actor=STORE)
    wait_is_over()
    cut_once(flow)
    work()
    assert states(order) == [JobState.QUEUED] * 3
    release_job(job=held, actor=STORE)
    make_due()
    work()

    assert at(flow) == {f"{order.number}-1": numbers(order, 1, 2), f"{order.number}-3": numbers(order, 3)}
    assert states(order) == [JobState.SENT] * 3
    outcomes = Attempt.objects.filter(job__order=order).order_by("number", "id")
    assert list(outcomes.values_list("outcome", flat=True)) == ["Unavailable", "Sent"] * 2 + ["Sent"]


def test_killed_sender_leaves_one_order_with_all_items(shop, flow, press):
    order = placed(shop)
    with killed_after(SiteFlowAdapter, "submit"):
        work()
    make_due()
    work()

    assert at(flow) == {f"{order.number}-1": numbers(order)}
    assert states(order) == [JobState.SENT] * 3
    outcomes = Attempt.objects.order_by("number", "id").values_list("outcome", flat=True)
    assert list(outcomes) == ["Interrupted", "Sent"] * 3


def test_second_sender_leaves_an_order_alone_that_is_being_sent(shop, flow, press):
    order = placed(shop)
    with lock_of_its_own(PROVIDER_ORDER_LOCKS | order.number) as is_ours:
        assert is_ours
        assert (work(), at(flow)) == (0, {})

    make_due()
    assert work() == 1
    assert at(flow) == {f"{order.number}-1": numbers(order)}


def test_items_wait_for_a_held_one_and_go_with_it(shop, flow, press):
    order = placed(shop)
    third = hold_job(job=only_job(number=f"{order.number}-3"), actor=STORE)
    assert work() == 0
    waiting = only_job(number=f"{order.number}-1")
    assert waiting.message == f"2 of 3 ready: waits at most 10 minutes for {third}."
    assert timezone.now() < waiting.next_try <= timezone.now() + timedelta(seconds=15)

    release_job(job=third, actor=STORE)
    assert work() == 1
    assert at(flow) == {f"{order.number}-1": numbers(order)}


def test_item_claimed_while_its_order_was_postponed_looks_no_more(shop, flow, press):
    order = placed(shop)
    hold_job(job=only_job(number=f"{order.number}-3"), actor=STORE)
    [first, second] = claim_due_jobs(limit=3)
    work_on_job(job_pk=first)
    postponed = Job.objects.get(pk=second).next_try

    assert work_on_job(job_pk=second) is False
    assert Job.objects.get(pk=second).next_try == postponed > timezone.now()


def test_held_item_is_waited_for_no_longer_than_the_limit(shop, flow, press):
    order = placed(shop)
    third = hold_job(job=only_job(number=f"{order.number}-3"), actor=STORE)
    work()
    wait_is_over()
    work()
    assert at(flow) == {f"{order.number}-1": numbers(order, 1, 2)}

    release_job(job=third, actor=STORE)
    work()
    assert at(flow) == {f"{order.number}-1": numbers(order, 1, 2), f"{order.number}-3": numbers(order, 3)}
    assert flow.orders[f"{order.number}-3"]["extraData"]["siblings"] == numbers(order, 1, 2)


def test_items_that_leave_on_other_days_are_other_shipments(shop, flow, press):
    order = placed(shop)
    third = order.jobs.get(number=f"{order.number}-3")
    Job.objects.filter(pk=third.pk).update(due=third.due + timedelta(days=1))
    work()
    assert at(flow) == {f"{order.number}-1": numbers(order, 1, 2), f"{order.number}-3": numbers(order, 3)}


def test_large_order_is_sent_in_parts(shop, flow, press, monkeypatch):
    monkeypatch.setattr("production.dispatch.services.provider_orders.MAX_JOBS", 2)
    order = placed(shop, 5)
    work()
    make_due()
    work()
    make_due()
    work()
    assert MAX_JOBS > 2
    assert sorted(map(len, at(flow).values())) == [1, 2, 2]
    assert states(order) == [JobState.SENT] * 5


def test_refused_item_fails_and_the_others_are_one_order(shop, flow, press):
    make_card(shop.store, "unknown")
    items = [{"ProductID": name, "Quantity": 100, "TemplateData": card_data()} for name in PRODUCTS]
    order = accept(shop.place(body=order_body(Items=items)).json()["OrderID"])
    flow.skus = {order.items.get(position=0).product.api_key}
    for _ in range(3):
        work()

    first, second, third = order.jobs.order_by("item__position")
    assert (first.state, second.state, third.state) == (JobState.SENT, JobState.FAILED, JobState.SENT)
    assert "is not a product" in second.message
    assert at(flow) == {first.number: [first.number, third.number]}


PRODUCTS = ("card-two-sided", "unknown", "card-two-sided")


def test_item_whose_file_is_gone_fails_and_the_others_are_one_order(shop, flow, press):
    order = placed(shop)
    OrderItem.objects.filter(order=order, position=0).update(print_file="away.pdf")
    for _ in range(2):
        work()

    assert states(order) == [JobState.FAILED, JobState.SENT, JobState.SENT]
    assert at(flow) == {f"{order.number}-2": numbers(order, 2, 3)}


def test_file_that_is_gone_doubles_no_item_that_may_have_arrived(shop, flow, press):
    order = placed(shop)
    cut_once(flow)
    work()
    OrderItem.objects.filter(order=order, position=0).update(print_file="away.pdf")
    make_due()
    work()

    assert states(order) == [JobState.FAILED] * 3
    assert at(flow) == {f"{order.number}-1": numbers(order)}


def test_busy_provider_gets_the_items_later_and_those_that_came_meanwhile(shop, flow, press):
    order = placed(shop)
    third = hold_job(job=only_job(number=f"{order.number}-3"), actor=STORE)
    wait_is_over()
    cut_once(flow, "before", 429)
    work()
    release_job(job=third, actor=STORE)
    make_due()
    work()

    assert at(flow) == {f"{order.number}-1": numbers(order)}


def test_cancelled_item_leaves_the_others_in_an_order_of_their_own(shop, flow, press):
    order = placed(shop)
    work()
    cancel_job(job=only_job(number=f"{order.number}-1"), actor=STORE)
    work()
    work()

    assert flow.cancelled == {f"{order.number}-1"}
    again = [f"{order.number}-2-2", f"{order.number}-3-2"]
    assert at(flow) == {again[0]: again}
    assert states(order) == [JobState.CANCELLED, JobState.SENT, JobState.SENT]

    rows = report(press, f"{order.number}-1", "cancelled")
    assert [row.outcome for row in rows] == ["Late"]
    assert states(order) == [JobState.CANCELLED, JobState.SENT, JobState.SENT]


def test_cancellation_that_is_reported_before_it_is_answered_loses_no_item(shop, flow, press):
    order = placed(shop)
    work()
    number = f"{order.number}-1"
    cancel_job(job=only_job(number=f"{order.number}-2"), actor=STORE)
    with killed_after(SiteFlowAdapter, "cancel"):
        work()
    report(press, number, "cancelled")
    make_due()
    work()

    again = [f"{order.number}-1-2", f"{order.number}-3-2"]
    assert at(flow) == {again[0]: again}
    assert states(order) == [JobState.SENT, JobState.CANCELLED, JobState.SENT]


def test_item_is_not_cancelled_once_another_one_is_printed(shop, flow, press):
    order = placed(shop)
    work()
    report(press, f"{order.number}-1", "printed", sourceItemId=f"{order.number}-3")
    cancel_job(job=only_job(number=f"{order.number}-1"), actor=STORE)
    work()

    job = only_job(number=f"{order.number}-1")
    assert (job.state, job.cancel_requested, flow.cancelled) == (JobState.SENT, None, set())
    assert f"{order.number}-3, of the same order" in job.message


def test_cancelled_order_is_cancelled_once_at_the_provider(shop, flow, press):
    order = placed(shop)
    work()
    cancel_order(order=order, actor=STORE)
    assert work() == 1

    assert states(order) == [JobState.CANCELLED] * 3
    assert (at(flow), [request for request in flow.requests if request[0] == "PUT"]) == (
        {},
        [("PUT", f"/api/order/source/{order.number}-1/cancel")],
    )


def test_item_that_may_have_arrived_is_neither_held_nor_given_away(shop, flow, press):
    order = placed(shop)
    cut_once(flow)
    work()
    job, other = only_job(number=f"{order.number}-2"), siteflow(flow, "other")
    with pytest.raises(Conflict, match="may be at Flow"):
        hold_job(job=job, actor=STORE)
    for provider in (press, other):
        with pytest.raises(Conflict, match="may have job"):
            reassign_job(job=job, provider=provider, actor=STORE)


def test_missing_pieces_of_one_item_are_printed_again_alone(shop, flow, press, client):
    order = placed(shop)
    work()
    operator = sign_in(client, shop.world.operator)
    body = {"id": "5f0c1f0e-5a37-4b52-9f3a-0a4f6a1b2c3d", "code": f"{order.number}-2", "step": "Missing"}
    response = operator.post(reverse("admin:production_job_scan"), {**body, "pieces": 4})
    assert response.status_code == 200, response.content
    work()

    reprint = f"{order.number}-2-2"
    assert at(flow) == {f"{order.number}-1": numbers(order), reprint: [reprint]}
    assert flow.orders[reprint]["items"][0]["quantity"] == 4
    report(press, f"{order.number}-1", "shipped", carrier="UPS", trackingNumber="1Z1")
    assert states(order) == [JobState.SHIPPED, JobState.SENT, JobState.SHIPPED]


def test_order_goes_as_one_to_the_next_provider(shop, flow):
    with running_siteflow() as away:
        first, second = siteflow(away, "away"), siteflow(flow)
    make_rule(first, second)
    order = placed(shop)
    work()
    assert set(order.jobs.values_list("provider__code", "state")) == {("away", JobState.QUEUED)}

    Provider.objects.filter(pk=first.pk).update(failing_since=timezone.now() - timedelta(seconds=21))
    make_due()
    work()
    assert at(flow) == {f"{order.number}-1": numbers(order)}
    assert set(order.jobs.values_list("provider__code", "state")) == {("flow", JobState.SENT)}


def test_shares_keep_the_items_of_an_order_together(shop, flow):
    providers = [siteflow(flow, code) for code in ("one", "two")]
    make_rule(*providers, priorities=(1, 1))
    orders = [placed(shop) for _ in range(2)]
    work()
    work()

    used = [set(order.jobs.values_list("provider__code", flat=True)) for order in orders]
    assert sorted(map(sorted, used)) == [["one"], ["two"]]
    assert sorted(map(len, at(flow).values())) == [3, 3]


def test_dry_run_shows_the_one_order_that_would_be_sent(shop, flow, press):
    order = placed(shop)
    [run] = dry_run(press, str(order.number))
    shown = json.loads(run.parts[f"POST {flow.url}{ORDER}"])
    work()

    assert run.title.startswith(f"Jobs {order.number}-1: 100 × ")
    assert _without_addresses(shown["orderData"]) == _without_addresses(flow.orders[f"{order.number}-1"])


def _without_addresses(data: dict) -> dict:
    """Addresses of files are signed with the time; the file that is sent is stamped."""
    for item in data["items"]:
        for component in item["components"]:
            assert component.pop("path").startswith("http")
            assert component.pop("extraData")
    return data


def test_page_of_a_job_names_the_others_of_its_order(shop, flow, press, client):
    order = placed(shop)
    work()
    page = sign_in(client, shop.world.operator).get(
        reverse("admin:production_job_change", args=[only_job(number=f"{order.number}-2").pk])
    )
    assert f"{order.number}-1 with the jobs {', '.join(numbers(order))}" in page.content.decode()


def test_files_of_all_items_are_served_as_they_were_named(shop, flow, press):
    placed(shop)
    work()
    for item in next(iter(flow.orders.values()))["items"]:
        [component] = item["components"]
        path = component["path"]
        response = Client().get(path[path.index("/production") :])
        assert response.status_code == 200
        assert response["ETag"] == f'"{component["extraData"]["sha256"]}"'
