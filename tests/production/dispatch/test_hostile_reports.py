"""What a provider sends must not fail the service, cost others much, or bring back what was erased."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, Role
from accounts.permissions import Permission
from fulfillment.core import concurrency_limits
from production.dispatch.services import postbacks
from production.dispatch.services.reports import receive_reports
from production.interface import Exchange, Report, Submitted
from production.jobs.models import Attempt, AttemptKind, JobHistory, ProviderReport
from production.jobs.services import outcomes
from production.jobs.services.recording import MAX_FAILURES
from production.providers.selectors import postback_url
from production.providers.services import ProviderValues, save_provider
from production.tickets.xjdf import NAMESPACE
from production.tickets.xjmf import read_xjmf
from stores.orders.models import Order
from stores.orders.services.recipients import erase_recipient
from tests.factories.orders import order_body
from tests.factories.production import (
    STORE,
    accept,
    make_press,
    make_provider,
    only_job,
    work_off_jobs,
)
from tests.support.costs import calls
from tests.support.orders.shop import Shop
from tests.support.servers.queued_jobs import work_off

ERASED = "[erased]"


@pytest.fixture
def press(world, tmp_path):
    return make_press(tmp_path)


@pytest.fixture
def number(world, press) -> str:
    """Of a job that was sent."""
    response = Shop(world).place(body=order_body(("card", 100)))
    order = accept(response.json()["OrderID"])
    work_off_jobs()
    return f"{order.number}-1"


def post(press, body, kind="application/json", **more):
    return Client().post(postback_url(press), body, content_type=kind, **more)


@pytest.mark.django_db
@pytest.mark.parametrize("odd", ["\\ud800", "\\u0000", "\\udfff\\u0000 x"])
def test_letters_that_no_column_holds_fail_no_postback(press, number, odd):
    body = f'{{"JobNumber": "{number}", "State": "Failed", "Message": "cut {odd}", "Carrier": "{odd}"}}'

    assert post(press, body).json() == {"Received": 1, "Outcomes": ["Applied"]}
    assert only_job(number=number).message.startswith("Press reported: cut")


@pytest.mark.django_db
@pytest.mark.parametrize("field", ["JobNumber", "State", "At", "TrackingURL"])
def test_letters_that_no_response_holds_are_refused_in_a_sentence(press, number, field):
    report = {"JobNumber": number, "State": "Shipped", field: "cut \ud83d"}

    response = post(press, json.dumps(report))

    assert (response.status_code, response.json()["Code"]) == (400, "report_unreadable")
    assert "cut ?" in response.json()["detail"]


@pytest.mark.django_db
def test_press_that_takes_back_each_failure_does_not_fill_the_history(press, number):
    begin = timezone.now()
    reports = [
        Report(str(turn), number, ("Failed", "InProduction")[turn % 2], begin + timedelta(milliseconds=turn))
        for turn in range(60)
    ]

    receive_reports(provider=press, reports=reports)

    assert only_job(number=number).state == "Failed"
    assert JobHistory.objects.filter(state="Failed").count() == MAX_FAILURES


@pytest.mark.django_db
@pytest.mark.parametrize("depth", [40, 900, 943, 944, 1_000, 100_000])
@pytest.mark.parametrize("adapter", ["folder", "siteflow"])
def test_deep_postback_is_refused_in_a_sentence(press, depth, adapter):
    if adapter == "siteflow":
        flow = {"token": "t", "secret": "s", "destination": "d"}
        press = save_provider(values=ProviderValues("flow", "Flow", "siteflow", flow))
    row = '"sourceOrderId": "1-1", "status": "printed"' if adapter == "siteflow" else '"JobNumber": "1-1"'

    response = post(press, f'{{{row}, "x": {"[" * depth}{"]" * depth}}}')

    assert (response.status_code, response.json()["Code"]) == (400, "report_unreadable")
    assert "32 levels" in response.json()["detail"]


@pytest.mark.django_db
@pytest.mark.parametrize("length", ["²", "-1", "1e3", "9" * 19, "+5", "٣"])
def test_malformed_lengths_of_a_postback_are_refused(press, length):
    assert post(press, b"[]", CONTENT_LENGTH=length).status_code in {400, 413}


@pytest.mark.django_db
def test_postback_of_very_many_reports_is_refused_before_it_is_stored(press, number):
    many = json.dumps([{"JobNumber": f"{number}-1", "State": "Shipped"} for number in range(101)])

    response = post(press, many)

    assert (response.status_code, response.json()["Code"]) == (400, "too_many_reports")
    assert "100" in response.json()["detail"]
    assert not ProviderReport.objects.exists()


@pytest.mark.django_db
def test_nothing_of_an_erased_recipient_returns_with_a_late_report(press, number):
    order = Order.objects.get(pk=only_job(number=number).order_id)
    erase_recipient(order=order, actor=STORE, force=True)
    late = {
        "message": "Left with Jane Doe",
        "raw": '{"shipTo": {"name": "Jane Doe"}}',
        "tracking_url": "https://ups.example/?name=Jane+Doe",
    }
    states = ("InProduction", "Failed", "Shipped")

    reports = [Report(f"late-{state}", number, state, None, **late) for state in states]
    receive_reports(provider=press, reports=reports)

    assert ProviderReport.objects.count() == 3
    kept = [
        *ProviderReport.objects.values_list("raw", "message", "tracking_url", "explanation"),
        *JobHistory.objects.values_list("note"),
        (only_job(number=number).message,),
        *order.history.values_list("note"),
    ]
    assert "Jane" not in repr(kept)


@pytest.mark.django_db
def test_notification_of_a_failure_loses_its_text_with_the_recipient(world, press, number):
    job = only_job(number=number)
    Role.objects.create(user=world.outsider, store=job.store, grant=Permission.ORDER_ALL_READ)
    receive_reports(provider=press, reports=[Report("1", number, "Failed", None, message="For Jane Doe")])
    texts = Notification.objects.filter(kind="job_failed").values_list("text", flat=True)
    assert all("Jane" in text for text in list(texts))

    erase_recipient(order=job.order, actor=STORE, force=True)

    assert set(texts.all()) == {ERASED}


@pytest.mark.django_db
def test_exchange_that_ends_after_the_erasure_keeps_no_address(press, number):
    job = only_job(number=number)
    attempt = Attempt.objects.get(job=job)
    erase_recipient(order=job.order, actor=STORE, force=True)

    outcomes.record_submitted(
        attempt=attempt, submitted=Submitted("1", Exchange("to Jane Doe", "Jane Doe", {"a": "b"}))
    )

    attempt.refresh_from_db()
    assert (attempt.kind, attempt.digests) == (AttemptKind.SUBMIT, {"a": "b"})
    assert "Jane" not in f"{attempt.request} {attempt.response}"


def test_reading_xjmf_costs_a_few_calls_for_each_element():
    """Every message looks for the header of those around it."""
    phase = '<JobPhase JobID="1-1" Status="InProgress"/>'
    body = f'<XJMF xmlns="{NAMESPACE}">{"<a/>" * 150_000}{phase * 8_000}</XJMF>'.encode()
    assert len(body) < 1024 * 1024

    assert len(read_xjmf(body)) == 8_000
    assert calls(lambda: read_xjmf(body)) < 10 * 158_000


def test_xjmf_with_many_namespaces_costs_little():
    """Written where it stands, each report would have all of them, and a file would take minutes."""
    spaces = "".join(f' xmlns:a{number}="u"' for number in range(10_000))
    entry = '<QueueEntry JobID="1-1" Status="Waiting"/>'
    body = f'<XJMF xmlns="{NAMESPACE}"{spaces}>{entry * 100}</XJMF>'.encode()

    reports = read_xjmf(body)

    assert len(reports) == 100
    assert all(len(report.raw) < 200 for report in reports)


def test_reports_that_lie_in_each_other_are_refused_once_they_are_long():
    begin = '<QueueEntry JobID="1-1" Status="Waiting">'
    body = f'<XJMF xmlns="{NAMESPACE}">{begin * 100}{"x" * 1_000_000}{"</QueueEntry>" * 100}</XJMF>'.encode()

    with pytest.raises(ValueError, match="lie in each other"):
        read_xjmf(body)


def states(number, *, message=""):
    return [
        {"JobNumber": number, "State": state, "Message": message}
        for state in ("Acknowledged", "InProduction")
    ]


@pytest.mark.django_db
def test_postback_that_takes_long_goes_on_where_it_ended(press, number, monkeypatch):
    monkeypatch.setattr(postbacks, "MAX_SECONDS", 0.0)
    many = states(number, message="x" * postbacks.MAX_QUEUED_BYTES)

    first, then = post(press, json.dumps(many)), post(press, json.dumps(many[1:]))

    assert (first.status_code, first.json()["Code"]) == (503, "service_busy")
    assert then.json() == {"Received": 1, "Outcomes": ["Applied"]}


@pytest.mark.django_db
@pytest.mark.parametrize("other", ["provider:{}", "somebody"])
def test_postback_that_meets_other_work_is_stored_by_a_worker(press, number, settings, monkeypatch, other):
    settings.CONCURRENCY_WAIT_SECONDS = 0
    settings.FILES_CONCURRENCY = 1
    monkeypatch.setattr(concurrency_limits, "_under_way", [("files", other.format(press.pk))])

    response = post(press, json.dumps(states(number)))

    assert response.status_code == 202
    assert response.json() == {"Received": 2, "Outcomes": ["Queued", "Queued"]}
    assert only_job(number=number).state == "Sent"
    assert work_off(postbacks.POSTBACK_TASK) == 1
    assert only_job(number=number).state == "InProduction"


@pytest.mark.django_db
def test_postbacks_are_read_before_they_wait_and_few_wait(press, number, settings, monkeypatch):
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0
    monkeypatch.setattr(postbacks, "MAX_QUEUED", 1)

    assert [post(press, body).status_code for body in ("nonsense", "[]" * 40_000)] == [400, 503]
    assert [post(press, json.dumps(states(number))).status_code for _ in range(2)] == [202, 503]
    # A failed one waits no longer.
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET status = 'failed'")
    assert post(press, json.dumps(states(number))).status_code == 202


@pytest.mark.django_db
def test_few_queued_postbacks_of_a_provider_are_stored_at_once(press, number, settings):
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0
    bodies = [json.dumps([{**report, "ReportID": str(n)} for report in states(number)]) for n in range(5)]

    assert [post(press, body).status_code for body in bodies] == [202] * 5
    with connection.cursor() as cursor:
        for _ in bodies:
            cursor.execute("SELECT id FROM procrastinate_fetch_job_v2(NULL, NULL)")
        cursor.execute("SELECT count(*) FROM procrastinate_jobs WHERE status = 'doing'")
        assert cursor.fetchone() == (2,)


@pytest.mark.django_db
def test_report_of_an_order_is_stored_for_the_jobs_that_it_changes(world, press, tmp_path):
    response = Shop(world).place(body=order_body(("card", 100), ("card", 100), ("card", 100)))
    order = accept(response.json()["OrderID"])
    work_off_jobs()
    number = f"{order.number}-1"
    order.jobs.update(provider_order=number)
    other = make_provider(tmp_path, "other")

    def outcomes_of(provider, identifier, state):
        rows = receive_reports(provider=provider, reports=[Report(identifier, number, state, None)])
        return [row.outcome for row in rows]

    assert outcomes_of(press, "1", "InProduction") == ["Applied"] * 3
    assert outcomes_of(press, "2", "InProduction") == ["Late"]
    assert outcomes_of(other, "1", "Shipped") == ["Contradiction"]
