"""The log of an application's calls: what is noted, what never is, and that it holds nothing up."""

import json
from datetime import timedelta

import pytest
from django.db import DatabaseError, OperationalError, transaction
from django.utils import timezone

from applications.metrics import flush_usage
from applications.registration.models import LoggedRequest
from applications.registration.selectors.request_log import (
    CallFilter,
    list_operations,
    logged_requests,
)
from applications.registration.services import request_log
from applications.registration.services.personal_data import retention_rules
from applications.registration.services.request_log import flush_request_log, note_request
from fulfillment.operations.privacy import erase_user
from stores.orders.models import Order
from tests.factories.accounts import UserFactory
from tests.support.caches import clear_caches


@pytest.fixture(autouse=True)
def nothing_noted():
    clear_caches()
    yield
    clear_caches()


def log_of(application, **filters):
    flush_request_log()
    return logged_requests(application, CallFilter(**filters))


def test_call_is_noted_with_its_template_and_request_id(world):
    client = world.as_application()
    response = client.call(
        "GET", "/store/associated/product?verbose=true", headers={"User-Agent": "acme/1.0"}
    )

    [row] = log_of(world.application)
    assert (row.method, row.path, row.status) == ("GET", "/api/v1/store/{storeID}/product", 200)
    assert row.request_id.hex == response["X-Request-ID"] == response["traceparent"].split("-")[1]
    assert row.microseconds > 0
    logged = LoggedRequest.objects.get()
    assert logged.headers["request"]["User-Agent"] == "acme/1.0"
    assert logged.headers["response"] == {"Content-Type": "application/json"}
    assert (logged.problem, logged.user_id) == (None, None)


def test_refusal_is_noted_with_code_pointer_and_body(world):
    client = world.as_application()
    response = client.call("POST", "/store/associated/quote", {"Items": []})

    [row] = log_of(world.application, status="4xx")
    assert (row.status, row.code) == (400, response.json()["Code"])
    assert row.pointer == response.json()["Errors"][0]["Pointer"]
    assert LoggedRequest.objects.get().headers["response"]["RateLimit"].startswith('"subscription"')
    assert row.problem["Errors"][0]["Code"] == response.json()["Errors"][0]["Code"]
    assert response.json()["RequestID"] == row.request_id.hex


def test_no_secret_and_nothing_of_a_recipient_is_noted(world):
    client = world.as_application()
    body = {
        "Items": [{"ProductID": "none", "Quantity": 1}],
        "Recipient": {"Name": "Dana\x07 Secretname", "Hidden Lane 5": "x"},
    }
    client.call("POST", "/store/associated/order?x=leaked", body)
    client.call("GET", "/store/associated/order/leaked-id")
    world.as_user(world.user, application=world.application).call(
        "POST", "/user/emails", {"Emails": ["dana@leaked.example", 5]}
    )

    assert Order.objects.count() == 0
    log_of(world.application)
    assert LoggedRequest.objects.count() == 3
    kept = json.dumps([[str(value) for value in row] for row in LoggedRequest.objects.values_list()])
    for secret in ("Secretname", "leaked", client.token, client.key):
        assert secret not in kept


def test_calls_beyond_the_limit_are_left_out_and_reported(world, monkeypatch, caplog):
    monkeypatch.setattr(request_log, "MAX_PER_APPLICATION", 3)
    client, other = world.as_application(), world.as_application(world.other_application)
    for _ in range(5):
        client.call("GET", "/store")
    other.call("GET", "/store")

    assert flush_request_log() == 4
    assert "2 calls are not in the request log" in caplog.text
    client.call("GET", "/store")
    assert flush_request_log() == 1


def test_nothing_is_lost_while_the_database_is_away(world, monkeypatch):
    world.as_application().call("GET", "/store")
    with monkeypatch.context() as patch:
        patch.setattr(request_log, "ADD", "SELECT FROM nowhere WHERE %s IS NULL")
        with pytest.raises(DatabaseError), transaction.atomic():
            flush_usage()

    assert len(request_log._waiting) == 1


def test_calls_of_what_is_gone_by_now_are_left_out(world):
    client = world.as_application(world.other_application)
    client.call("GET", "/store")
    world.other_application.delete()
    world.as_application().call("GET", "/store")
    flush_request_log()

    assert [row.application for row in LoggedRequest.objects.all()] == [world.application]


def test_without_days_nothing_is_kept(world, settings):
    settings.REQUEST_LOG_DAYS = 0
    world.as_application().call("GET", "/store")

    assert flush_request_log() == 0


def test_old_calls_are_removed_in_batches(world):
    client = world.as_application()
    for _ in range(5):
        client.call("GET", "/store")
    flush_request_log()
    old = LoggedRequest.objects.order_by("pk")[:3].values("pk")
    LoggedRequest.objects.filter(pk__in=old).update(time=timezone.now() - timedelta(days=8))
    [rule] = [each for each in retention_rules() if each.name == "logged requests"]

    assert rule.count() == 3
    assert list(rule.remove(2)) == [2, 1]
    assert LoggedRequest.objects.count() == 2


def test_erasure_removes_logged_calls(world):
    person = UserFactory()
    caller = {"application_id": world.application.pk, "user_id": person.pk, "status": 200, "problem": None}
    same = {"method": "GET", "route": "api/v1/store", "seconds": 0.01, "request_id": "0" * 31 + "1"}
    note_request(**caller, **same, request_meta={}, response_headers={})
    flush_request_log()
    note_request(**caller, **same, request_meta={}, response_headers={})
    assert LoggedRequest.objects.get().user == person

    erase_user(user=person)
    flush_request_log()

    assert not LoggedRequest.objects.exists()


def test_filters_find_by_status_operation_code_time_and_id(world):
    client = world.as_application()
    client.call("GET", "/store")
    refused = client.call("GET", "/store/unassociated")
    client.call("GET", "/store/associated/product/none")
    own = world.application
    assert len(log_of(own)) == 3
    assert {row.status for row in log_of(own, status="4xx")} == {401, 404}
    assert [row.status for row in log_of(own, status="404")] == [404]
    assert [row.path for row in log_of(own, method="GET", path="/api/v1/store")] == ["/api/v1/store"]
    assert [row.status for row in log_of(own, code="store_invalid")] == [401]
    id_of = LoggedRequest.objects.get(status=401).request_id
    assert refused["X-Request-ID"] == id_of.hex
    assert [row.status for row in log_of(own, request_id=id_of)] == [401]
    assert log_of(own, since=timezone.now() + timedelta(hours=1)) == []
    first, *_ = log_of(own)
    assert len(log_of(own, before=(first.time, first.pk))) == 2
    assert log_of(world.other_application) == []
    figures = {operation.path: operation for operation in list_operations(own)}
    assert figures["/api/v1/store/{storeID}"].error_share == 100


def test_broken_log_holds_up_no_counts(world, monkeypatch):
    def fail():
        raise OperationalError("gone")

    world.as_application().call("GET", "/store")
    monkeypatch.setattr("applications.metrics.flush_request_log", fail)
    with pytest.raises(OperationalError):
        flush_usage()

    assert world.application.daily_usage.get().calls == 1


def test_unusual_methods_delay_no_other_call(world):
    """A method may have any name: one longer than its column must not keep all others from being written."""
    world.as_application().call("VERY-LONG-METHOD-NAME", "/store")
    world.as_application(world.other_application).call("GET", "/store")

    assert [row.method for row in log_of(world.application)] == ["VERY-LONG-"]
    assert [row.method for row in log_of(world.other_application)] == ["GET"]


def test_masked_texts_delay_no_other_call(world):
    """A mask of three characters in place of one: the pointer grows beyond its column."""
    name = "code:1&" * 36
    body = {"Items": [{"ProductID": "none", "Quantity": 1}], "ShipTo": {"CountryCode": "US"}, name: 1}
    world.as_application().call("POST", "/store/associated/quote", body)
    world.as_application(world.other_application).call("GET", "/store")

    [refused] = log_of(world.application)
    assert "code:***" in refused.pointer
    assert "code:1" not in refused.pointer
    assert [row.method for row in log_of(world.other_application)] == ["GET"]


def test_a_call_that_cannot_be_written_holds_up_no_other(world, monkeypatch, caplog):
    monkeypatch.setattr(request_log, "_text", lambda value, longest: str(value))
    world.as_application().call("VERY-LONG-METHOD-NAME", "/store")
    world.as_application(world.other_application).call("GET", "/store")

    assert flush_request_log() == 2
    assert [row.method for row in log_of(world.other_application)] == ["GET"]
    assert "A call is not in the request log" in caplog.text
    assert not request_log._waiting
