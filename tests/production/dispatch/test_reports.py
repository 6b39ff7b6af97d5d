"""Reports move jobs and their order on, once and never back; what contradicts is kept."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Notification, Role
from production.adapters import folder, folder_returns
from production.dispatch.services.actions import resend_job
from production.dispatch.services.polling import claim_providers_to_poll, poll_provider
from production.dispatch.services.reports import receive_reports
from production.interface import Report
from production.jobs.models import Attempt, AttemptOutcome, Job, JobState, ProviderReport
from production.jobs.services.recording import SYSTEM
from production.providers.models import Provider
from production.providers.selectors import postback_url
from stores.orders.models import Order, OrderStatus
from stores.orders.services.cancellation import cancel_order
from stores.orders.services.transitions import transition_order
from tests.factories.orders import make_product, order_body
from tests.factories.production import (
    STORE,
    accept,
    make_press,
    only_job,
    work_off_jobs,
)
from tests.support.orders.shop import Shop

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def press(world, tmp_path):
    return make_press(tmp_path)


@pytest.fixture
def order(world, press) -> Order:
    """Of two items, both sent."""
    make_product(world.associated, "sheet")
    body = order_body(("card", 100), ("sheet", 100))
    response = Shop(world).place(body=body)
    order = accept(response.json()["OrderID"])
    work_off_jobs()
    return order


def report(job: str, state: str, minutes: int = 0, **more) -> Report:
    return Report(f"{job}-{state}-{minutes}", job, state, NOON + timedelta(minutes=minutes), **more)


def status_of(order: Order) -> int:
    return Order.objects.get(pk=order.pk).status


@pytest.mark.parametrize("is_first", [True, False])
def test_failure_counts_although_the_files_are_seen_taken_later(press, order, is_first):
    job = order.jobs.earliest("pk")
    taken = Report(f"taken:{job.number}", job.number, "Acknowledged", None)
    failed = Report("failed", job.number, "Failed", timezone.now() - timedelta(minutes=1), message="Damaged.")

    for seen in [[failed], [taken]] if is_first else [[taken], [failed]]:
        receive_reports(provider=press, reports=seen)

    job.refresh_from_db()
    assert job.state == JobState.FAILED


def test_reports_take_the_order_to_shipped_with_its_parcels(press, order):
    first, second = f"{order.number}-1", f"{order.number}-2"
    receive_reports(provider=press, reports=[report(first, "InProduction")])
    assert status_of(order) == OrderStatus.IN_PRODUCTION

    parcel = {"carrier": "UPS", "tracking_number": "1Z1", "tracking_url": "https://ups.example/1Z1"}
    receive_reports(provider=press, reports=[report(first, "Shipped", 5, **parcel)])
    assert status_of(order) == OrderStatus.PARTIALLY_SHIPPED

    receive_reports(
        provider=press, reports=[report(second, "Shipped", 6, carrier="UPS", tracking_number="1Z2")]
    )
    assert status_of(order) == OrderStatus.SHIPPED
    shipments = {shipment.tracking_number: shipment.item_keys for shipment in order.shipments.all()}
    keys = [item.item_key for item in order.items.order_by("position")]
    assert shipments == {"1Z1": [keys[0]], "1Z2": [keys[1]]}


def test_parcel_reported_while_the_order_is_on_hold_is_recorded_when_it_goes_on(press, order):
    first, second = f"{order.number}-1", f"{order.number}-2"
    transition_order(order=order, status=OrderStatus.ON_HOLD, actor=SYSTEM)
    for number in (first, second):
        parcel = {"carrier": "UPS", "tracking_number": "1Z", "tracking_url": "https://ups.example/1Z"}
        receive_reports(provider=press, reports=[report(number, "Shipped", **parcel)])
    assert status_of(order) == OrderStatus.ON_HOLD

    accept(order.pk)

    shipment = Order.objects.get(pk=order.pk).shipments.get()
    assert (status_of(order), shipment.tracking_number) == (OrderStatus.SHIPPED, "1Z")
    assert (shipment.tracking_url, len(shipment.item_keys)) == ("https://ups.example/1Z", 2)
    assert shipment.shipped == NOON


def test_reports_in_any_order_end_in_the_same_state(press, order):
    number = f"{order.number}-1"
    later_first = [
        report(number, "Shipped", 9),
        report(number, "InProduction", 5),
        report(number, "Acknowledged", 1),
    ]
    for late_report in later_first:
        receive_reports(provider=press, reports=[late_report])

    assert only_job(number=number).state == JobState.SHIPPED
    assert [row.outcome for row in ProviderReport.objects.order_by("id")] == ["Applied", "Late", "Late"]


def test_one_report_twice_counts_once(press, order):
    twice = [report(f"{order.number}-1", "InProduction")] * 2
    receive_reports(provider=press, reports=twice)

    row = ProviderReport.objects.get()
    assert (row.outcome, row.repeats) == ("Applied", 1)


def test_report_of_an_unknown_job_and_of_a_cancelled_one_are_kept(press, order):
    cancel_order(order=order, actor=STORE)
    work_off_jobs()
    known = f"{order.number}-1"
    receive_reports(provider=press, reports=[report("77-1", "Shipped"), report(known, "Shipped", 1)])

    assert only_job(number=known).state == JobState.CANCELLED
    assert status_of(order) == OrderStatus.CANCELLED
    outcomes = dict(ProviderReport.objects.values_list("job_number", "outcome"))
    assert outcomes == {"77-1": "Unknown", known: "Contradiction"}


def test_failed_job_is_sent_again_under_a_new_number(press, order):
    number = f"{order.number}-1"
    receive_reports(provider=press, reports=[report(number, "Failed", message="Plate broken")])
    job = only_job(number=number)
    assert (job.state, "Plate broken" in job.message) == (JobState.FAILED, True)

    resend_job(job=job, actor=STORE)
    work_off_jobs()
    receive_reports(provider=press, reports=[report(number, "Shipped", 9)])

    again = only_job(pk=job.pk)
    assert (again.state, again.number) == (JobState.SENT, f"{number}-2")
    late = ProviderReport.objects.get(state="Shipped")
    assert (late.outcome, late.job) == ("Contradiction", again)


def test_job_that_fails_again_after_a_failure_that_was_overridden_notifies_again(press, order, world):
    Role.objects.create(user=world.outsider, store=world.associated, grant="Order.All.Read")
    number = f"{order.number}-1"

    for minute, (state, message) in enumerate(
        [("Failed", "No paper."), ("InProduction", ""), ("Failed", "No ink.")]
    ):
        receive_reports(provider=press, reports=[report(number, state, minute, message=message)])

    texts = Notification.objects.filter(user=world.outsider).order_by("pk").values_list("text", flat=True)
    assert [text.partition(" The order")[0] for text in texts] == [
        "Press: Press reported: No paper.",
        "Press: Press reported: No ink.",
    ]


def test_postback_is_taken_at_the_secret_address_alone(press, order):
    address = postback_url(press)
    body = {"JobNumber": f"{order.number}-1", "State": "Shipped", "TrackingNumber": "1Z9", "Carrier": "UPS"}
    client = Client()
    sent = [client.post(address, body, content_type="application/json") for _ in range(2)]
    wrong = client.post(address[:-1] + "x", body, content_type="application/json")
    broken = client.post(address, b"{", content_type="application/json")
    large = client.post(address, b" " * (1024 * 1024 + 1), content_type="application/json")

    assert [response.status_code for response in (*sent, wrong, broken, large)] == [200, 200, 404, 400, 413]
    assert ProviderReport.objects.get().repeats == 1
    assert status_of(order) == OrderStatus.PARTIALLY_SHIPPED


def test_report_files_are_stored_part_by_part_so_that_a_crash_repeats_little(press, monkeypatch):
    monkeypatch.setattr(folder_returns, "READ_AT_ONCE", 2)
    monkeypatch.setattr(folder_returns, "SETTLED_SECONDS", -5)
    back, confirm, calls = Path(press.settings["return_folder"]), folder.FolderAdapter.confirm, []
    for at in range(5):
        (back / f"{at}.json").write_text(json.dumps({"JobNumber": f"{at}-1", "State": "Shipped"}))

    def killed_at_the_second(adapter, reports):
        calls.append(len(reports))
        if len(calls) == 2:
            raise SystemExit
        confirm(adapter, reports)

    monkeypatch.setattr(folder.FolderAdapter, "confirm", killed_at_the_second)
    with pytest.raises(SystemExit):
        poll_provider(provider_pk=press.pk)
    assert (ProviderReport.objects.count(), len(list(back.glob("*.json")))) == (4, 3)

    assert poll_provider(provider_pk=press.pk) == 3
    assert calls == [2, 2, 2, 1]
    assert sorted(ProviderReport.objects.values_list("repeats", flat=True)) == [0, 0, 0, 1, 1]
    assert list(back.glob("*.json")) == []


def test_names_that_stay_in_the_folder_hold_up_no_report(press, monkeypatch):
    monkeypatch.setattr(folder_returns, "SETTLED_SECONDS", -5)
    monkeypatch.setattr(folder_returns, "MAX_FILES_AT_ONCE", 3)
    back = Path(press.settings["return_folder"])
    for number in range(6):
        (back / f"0{number}.json").mkdir()
    (back / "last.json").write_text(json.dumps({"JobNumber": "1-1", "State": "Shipped"}))

    polls = iter(range(100))
    while not poll_provider(provider_pk=press.pk):
        next(polls)

    assert ProviderReport.objects.count() == 1


def test_report_leaves_no_attempt_of_a_killed_worker_open(press, order):
    """The press has the job, its worker was killed before it wrote that down, and the press reports first."""
    attempt = Attempt.objects.get(job=only_job(number=f"{order.number}-1"))
    Attempt.objects.filter(pk=attempt.pk).update(outcome=AttemptOutcome.UNFINISHED, finished=None)
    Job.objects.filter(pk=attempt.job_id).update(state=JobState.QUEUED)

    receive_reports(provider=press, reports=[report(f"{order.number}-1", "InProduction")])
    work_off_jobs()

    attempt.refresh_from_db()
    assert (attempt.outcome, attempt.job.state) == (AttemptOutcome.INTERRUPTED, JobState.IN_PRODUCTION)


def test_clock_of_the_press_that_is_ahead_makes_no_later_report_late(press, order):
    job = Job.objects.order_by("pk")[0]
    ahead = timezone.now() + timedelta(days=900)
    receive_reports(provider=press, reports=[Report("a", job.number, "InProduction", ahead)])
    [row] = receive_reports(provider=press, reports=[Report("b", job.number, "Failed", timezone.now())])

    assert (row.outcome, Job.objects.get(pk=job.pk).state) == ("Applied", JobState.FAILED)
    assert ProviderReport.objects.get(identifier="a").at <= timezone.now()


def test_disabled_provider_still_reports_on_the_jobs_that_it_has(press, order, client):
    job = Job.objects.order_by("pk")[0]
    Provider.objects.filter(pk=press.pk).update(is_enabled=False, last_polled=None)
    assert claim_providers_to_poll(limit=5) == [press.pk]

    body = {"JobNumber": job.number, "State": "Shipped"}
    address = postback_url(press)
    response = client.post(address[address.index("/production") :], body, content_type="application/json")

    assert response.json() == {"Received": 1, "Outcomes": ["Applied"]}
    Job.objects.update(state=JobState.SHIPPED, next_try=None)
    Provider.objects.update(last_polled=None)
    assert claim_providers_to_poll(limit=5) == []


def test_report_on_an_order_at_the_press_takes_as_many_queries_for_many_jobs(world, press):
    """The store's other orders wait for it; its staff is notified once, not of each job."""
    Role.objects.create(user=world.outsider, store=world.associated, grant="Order.All.Read")
    counts, states = [], ("Acknowledged", "Failed", "InProduction", "Shipped")
    for count in (2, 12):
        items = [{**order_body()["Items"][0], "ItemKey": f"item-{number}"} for number in range(count)]
        order = accept(Shop(world).place(body=order_body(Items=items)).json()["OrderID"])
        first = order.jobs.earliest("pk").number
        for job in order.jobs.all():
            order.jobs.filter(pk=job.pk).update(
                state="Sent", sent=timezone.now(), next_try=None, provider=press, provider_order=first
            )
        for minute, state in enumerate(states):
            at = timezone.now() - timedelta(minutes=9 - minute)
            stage = Report(f"{first} {state}", first, state, at, tracking_number="1Z" * (state == "Shipped"))
            with CaptureQueriesContext(connection) as queries:
                rows = receive_reports(provider=press, reports=[stage])
            counts.append(len(queries))
            assert [row.outcome for row in rows] == ["Applied"] * count
        assert {job.state: job.history.count() for job in order.jobs.all()} == {"Shipped": 5}

    assert counts[4:] == counts[:4]
    titles = Notification.objects.filter(user=world.outsider).values_list("title", flat=True)
    assert len(titles) == 2
    assert f"12 print jobs of order {order.number} failed" in titles


def test_failure_that_is_reported_before_the_answer_keeps_its_reason(world, press, monkeypatch):
    accept(Shop(world).place(body=order_body()).json()["OrderID"])
    submit = folder.FolderAdapter.submit

    def fail(self, job):
        receive_reports(provider=press, reports=[report(job.number, "Failed", message="No such paper.")])
        return submit(self, job)

    monkeypatch.setattr(folder.FolderAdapter, "submit", fail)
    work_off_jobs()

    assert (only_job().state, only_job().message) == (JobState.FAILED, "Press reported: No such paper.")
