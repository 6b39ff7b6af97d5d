"""Events, webhooks and deliveries over the API."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from applications.concurrency_limits import EVENT_WAITS
from applications.webhooks.api import events
from applications.webhooks.models import Delivery, Webhook
from applications.webhooks.services.delivery_attempts import EndpointResponse, record_attempt
from tests.factories.orders import RECIPIENT, make_product, order_body
from tests.factories.webhooks import PUBLIC_URL, delivery_of, make_event, make_webhook, settle, take_delivery

FIELDS = {
    "ID",
    "ApplicationID",
    "URL",
    "EventTypes",
    "StoreIDs",
    "IsEnabled",
    "DisabledReason",
    "FailingSince",
    "Created",
    "Updated",
    "_meta",
}


@pytest.fixture
def client(world):
    return world.as_application()


@pytest.fixture
def path(world):
    return f"/application/{world.application.pk}"


def test_secret_is_shown_when_created_and_rotated_and_never_again(client, path):
    created = client.call("POST", f"{path}/webhook", {"URL": PUBLIC_URL})
    webhook = created.json()
    address = f"{path}/webhook/{webhook['ID']}"

    read, listed = client.call("GET", address).json(), client.call("GET", f"{path}/webhook").json()
    changed = client.call("PATCH", address, {"EventTypes": ["order.*"]}).json()
    rotated = client.call("POST", f"{address}/rotate-secret").json()

    assert created.status_code == 201
    assert created["Location"] == f"/api/v1{address}"
    assert webhook["Secret"].startswith("whsec_")
    assert set(webhook) == FIELDS | {"Secret"}
    assert set(read) == set(listed[0]) == set(changed) == FIELDS
    assert rotated["Secret"] not in {webhook["Secret"], None}
    assert (webhook["EventTypes"], webhook["StoreIDs"], webhook["IsEnabled"]) == (["*"], [], True)
    assert changed["EventTypes"] == ["order.*"]


def test_lost_answer_is_given_again_with_the_same_secret(client, path):
    first, second = (
        client.call("POST", f"{path}/webhook", {"URL": PUBLIC_URL}, HTTP_IDEMPOTENCY_KEY="one")
        for _ in range(2)
    )
    address = f"{path}/webhook/{first.json()['ID']}"
    third, fourth = (
        client.call("POST", f"{address}/rotate-secret", HTTP_IDEMPOTENCY_KEY="two") for _ in range(2)
    )

    assert first.json()["Secret"] == second.json()["Secret"] != third.json()["Secret"]
    assert third.json()["Secret"] == fourth.json()["Secret"]
    assert second["Idempotent-Replayed"] == fourth["Idempotent-Replayed"] == "true"
    assert Webhook.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({}, "/URL", "required"),
        ({"URL": 7}, "/URL", "invalid"),
        ({"URL": "http://192.0.43.8/"}, "/URL", "url_refused"),
        ({"URL": "https://169.254.169.254/latest/meta-data"}, "/URL", "url_refused"),
        ({"URL": "https://192.0.43.8/ "}, "/URL", "url_refused"),
        ({"URL": "https://192.0.43.8/" + "x" * 3000}, "/URL", "url_refused"),
        ({"URL": PUBLIC_URL, "EventTypes": ["order.*", "nonsense"]}, "/EventTypes/1", "event_type_unknown"),
        ({"URL": PUBLIC_URL, "EventTypes": []}, "/EventTypes", "required"),
        ({"URL": PUBLIC_URL, "EventTypes": "order.*"}, "/EventTypes", "not_a_list"),
        ({"URL": PUBLIC_URL, "StoreIDs": [""]}, "/StoreIDs/0", "store_invalid"),
        ({"URL": PUBLIC_URL, "StoreIDs": [f"s{n}" for n in range(101)]}, "/StoreIDs", "too_many_stores"),
        ({"URL": PUBLIC_URL, "IsEnabled": "yes"}, "/IsEnabled", "invalid"),
        ({"URL": PUBLIC_URL, "Color": "red"}, "/Color", "unknown_field"),
    ],
)
def test_fault_is_pointed_at(client, path, body, pointer, code):
    response = client.call("POST", f"{path}/webhook", body)

    assert response.status_code == 400
    fault = response.json()["Errors"][0]
    assert (fault["Pointer"], fault["Code"]) == (pointer, code)


def test_change_with_an_old_etag_is_refused(client, path, world):
    address = f"{path}/webhook/{make_webhook(world.application).pk}"
    etag = client.call("GET", address)["ETag"]

    unchanged = client.call("GET", address, HTTP_IF_NONE_MATCH=etag)
    first = client.call("PATCH", address, {"StoreIDs": ["demo"]}, HTTP_IF_MATCH=etag)
    second = client.call("PATCH", address, {"StoreIDs": []}, HTTP_IF_MATCH=etag)
    third = client.call("PATCH", address, {"StoreIDs": []}, HTTP_IF_MATCH=first["ETag"])

    assert [r.status_code for r in (unchanged, first, second, third)] == [304, 200, 412, 200]


def test_null_and_read_only_fields_change_nothing(client, path, world):
    webhook = make_webhook(world.application, event_types=["order.*"])
    address = f"{path}/webhook/{webhook.pk}"
    before = client.call("GET", address).json()

    after = client.call("PATCH", address, {**before, "URL": None, "ID": "x", "Created": "x"}).json()

    assert {**after, "Updated": ""} == {**before, "Updated": ""}


def test_disabled_by_hand_says_so_and_is_enabled_again(client, path, world):
    webhook = make_webhook(world.application)
    address = f"{path}/webhook/{webhook.pk}"

    disabled = client.call("PATCH", address, {"IsEnabled": False}).json()
    test = client.call("POST", f"{address}/test")
    recover = client.call("POST", f"{address}/recover", {"Since": timezone.now().isoformat()})
    enabled = client.call("POST", f"{address}/enable").json()

    assert (disabled["IsEnabled"], disabled["DisabledReason"]) == (False, "Disabled by the application.")
    assert {r.status_code for r in (test, recover)} == {409}
    assert test.json()["Code"] == recover.json()["Code"] == "webhook_disabled"
    assert (enabled["IsEnabled"], enabled["DisabledReason"]) == (True, None)


def test_deleted_webhook_is_removed(client, path, world):
    address = f"{path}/webhook/{make_webhook(world.application).pk}"

    first = client.call("DELETE", address)

    assert (first.status_code, first.content) == (204, b"")
    assert client.call("GET", f"{path}/webhook").json() == []
    for method, where in (("DELETE", ""), ("GET", ""), ("POST", "/test"), ("GET", "/delivery")):
        response = client.call(method, address + where)
        assert (response.status_code, response.json()["Code"]) == (404, "webhook_not_found")


def test_webhook_of_another_application_does_not_exist_here(client, path, world):
    foreign = make_webhook(world.other_application)

    assert client.call("GET", f"{path}/webhook/{foreign.pk}").status_code == 404
    assert client.call("GET", f"{path}/webhook/nonsense").status_code == 404
    assert client.call("GET", f"/application/{world.other_application.pk}/webhook").status_code == 403


def test_reading_takes_no_right_to_write(world, path):
    webhook = make_webhook(world.application)
    reader = world.as_application(scopes=("Application.Self.Read",))

    assert reader.call("GET", f"{path}/webhook/{webhook.pk}").status_code == 200
    assert reader.call("DELETE", f"{path}/webhook/{webhook.pk}").status_code == 403


def test_delivery_log_shows_what_happened(client, path, world):
    webhook = make_webhook(world.application)
    first, second, third = (make_event(world.application, data={"Sequence": n}) for n in (1, 2, 3))
    now = timezone.now()
    for event, response in (
        (first, EndpointResponse(9, 200, "ok")),
        (second, EndpointResponse(5, 500, "no", retry_after="60")),
    ):
        claimed = take_delivery(delivery_of(event, webhook), now)
        record_attempt(claimed=claimed, response=response, started=now, now=now)

    log = client.call("GET", f"{path}/webhook/{webhook.pk}/delivery").json()

    assert [record["ID"] for record in log] == [str(e.event_id) for e in (third, second, first)]
    assert [record["State"] for record in log] == ["Pending", "Pending", "Delivered"]
    assert log[1]["Attempts"] == [
        {
            "Timestamp": now.isoformat().replace("+00:00", "Z"),
            "Milliseconds": 5,
            "StatusCode": 500,
            "Error": None,
            "Body": "no",
        }
    ]
    assert log[1]["NextTry"] == (now + timedelta(seconds=60)).isoformat().replace("+00:00", "Z")
    assert (log[2]["NextTry"], log[0]["Attempts"]) == (None, [])
    assert log[0]["Event"]["Data"] == {"Sequence": 3, "IsTest": False}


def test_delivery_log_is_paged_and_filtered_with_few_queries(
    client, path, world, django_assert_max_num_queries
):
    webhook = make_webhook(world.application)
    events = [make_event(world.application) for _ in range(5)]
    Delivery.objects.filter(event__in=events[:2]).update(state="Failed", next_try=None)
    address = f"{path}/webhook/{webhook.pk}/delivery"

    with django_assert_max_num_queries(7):
        first = client.call("GET", f"{address}?take=3")
    second = client.call("GET", following(first))

    ids = [record["ID"] for record in first.json() + second.json()]
    assert ids == [str(event.event_id) for event in reversed(events)]
    assert "Link" not in second
    assert len(client.call("GET", f"{address}?state=failed").json()) == 2
    for query in ("state=lost", "take=0", "take=201", "take=x", "after=nonsense", f"after={webhook.pk}"):
        assert client.call("GET", f"{address}?{query}").status_code == 400


def test_resend_and_test_are_on_their_way_at_once(client, path, world):
    webhook = make_webhook(world.application)
    event = make_event(world.application)
    Delivery.objects.update(state="Delivered", next_try=None)
    address = f"{path}/webhook/{webhook.pk}"

    resent = client.call("POST", f"{address}/delivery/{event.event_id}/resend")
    tested = client.call("POST", f"{address}/test")
    unknown = client.call("POST", f"{address}/delivery/{webhook.pk}/resend")

    assert (resent.status_code, resent.json()["State"]) == (202, "Pending")
    assert (tested.status_code, tested.json()["Event"]["Type"]) == (202, "webhook.test")
    assert (unknown.status_code, unknown.json()["Code"]) == (404, "delivery_not_found")


def test_recover_waits_for_a_slot(client, path, world, settings):
    """It writes a row for each event of up to 30 days."""
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0
    webhook = make_webhook(world.application)
    body = {"Since": (timezone.now() - timedelta(hours=1)).isoformat()}

    refused = client.call("POST", f"{path}/webhook/{webhook.pk}/recover", body)

    assert (refused.status_code, refused.json()["Code"]) == (503, "service_busy")


def test_recover_says_how_many(client, path, world):
    webhook = make_webhook(world.application)
    make_event(world.application)
    Delivery.objects.update(state="Failed", next_try=None)
    address = f"{path}/webhook/{webhook.pk}/recover"

    recovered = client.call("POST", address, {"Since": (timezone.now() - timedelta(hours=1)).isoformat()})
    wrong = client.call("POST", address, {"Since": "2020-01-01T00:00:00Z"})

    assert (recovered.status_code, recovered.json()["Deliveries"]) == (202, 1)
    assert (wrong.status_code, wrong.json()["Errors"][0]["Pointer"]) == (400, "/Since")


@pytest.mark.django_db(transaction=True)
class TestEvents:
    def test_next_link_is_on_every_page(self, client, path, world):
        for number in range(5):
            make_event(world.application, data={"Sequence": number})
        settle()

        first = client.call("GET", f"{path}/event?take=3&type=order.*")
        second = client.call("GET", following(first))
        third = client.call("GET", following(second))
        make_event(world.application, data={"Sequence": 5})
        settle()
        fourth = client.call("GET", following(third))

        pages = [[e["Data"]["Sequence"] for e in page.json()] for page in (first, second, third, fourth)]
        assert pages == [[0, 1, 2], [3, 4], [], [5]]
        assert "take=3" in first["Link"]
        assert "type=order" in first["Link"]

    def test_empty_start_has_a_link_too(self, client, path):
        first = client.call("GET", f"{path}/event")

        assert (first.json(), client.call("GET", following(first)).json()) == ([], [])

    def test_events_are_filtered_by_store_order_and_time(self, client, path, world):
        for store_id, order_id in (("one", "a"), ("one", "b"), ("two", "c")):
            make_event(world.application, store_id=store_id, data={"OrderID": order_id})
        settle()

        def found(query):
            return [event["Data"]["OrderID"] for event in client.call("GET", f"{path}/event?{query}").json()]

        assert found("storeID=one") == ["a", "b"]
        assert found("orderID=c") == ["c"]
        assert found("createdAfter=2099-01-01T00:00:00Z") == []
        assert found("createdAfter=2000-01-01T00:00:00Z") == ["a", "b", "c"]

    def test_after_takes_an_event_id_of_this_application_only(self, client, path, world):
        events = [make_event(world.application, data={"Sequence": number}) for number in range(3)]
        settle()

        going_on = client.call("GET", f"{path}/event?after={events[1].event_id}").json()
        foreign = client.call("GET", f"{path}/event?after={uuid4()}")

        assert [event["Data"]["Sequence"] for event in going_on] == [2]
        assert (foreign.status_code, foreign.json()["Code"]) == (400, "parameter_invalid")

    def test_request_waits_until_there_is_an_event(self, client, path, world, monkeypatch):
        looks = Looks(lambda number: number == 3 and make_event(world.application))
        monkeypatch.setattr(events, "stopping", looks)

        waited = client.call("GET", f"{path}/event?wait=25").json()

        assert len(waited) == 1
        assert looks.count >= 3

    def test_wait_ends_when_the_process_stops(self, client, path, monkeypatch):
        looks = Looks(lambda number: None, ends=4)
        monkeypatch.setattr(events, "stopping", looks)

        assert client.call("GET", f"{path}/event?wait=25").json() == []
        assert looks.count == 4

    def test_one_request_of_a_person_waits_and_a_quarter_of_the_threads(
        self, client, path, world, monkeypatch
    ):
        looks = Looks(lambda number: None, ends=1)
        monkeypatch.setattr(events, "stopping", looks)
        answers = []
        for waiting in ([f"user:{world.application.user_id}"], ["user:1", "user:2"]):
            held = [EVENT_WAITS.stream(iter([]), caller) for caller in waiting]
            answers.append(client.call("GET", f"{path}/event?wait=25"))
            for slot in held:
                slot.close()

        assert [(answer.status_code, answer.json()) for answer in answers] == [(200, [])] * 2
        assert looks.count == 0

    @pytest.mark.parametrize(
        "query",
        ["wait=26", "wait=-1", "wait=", "take=0", "take=1001", "after=1", "after=", "type=nonsense", "type="],
    )
    def test_parameter_that_is_not_understood_is_refused(self, client, path, query):
        response = client.call("GET", f"{path}/event?{query}")

        assert response.status_code == 400
        assert response.json()["Errors"][0]["Pointer"] == f"?{query.partition('=')[0]}"

    def test_order_event_is_sent_without_anything_of_its_recipient(self, client, path, world):
        make_product(world.associated)
        webhook = make_webhook(world.application)
        order = client.call("POST", "/store/associated/order", order_body(ExternalID="acme-1")).json()
        store = world.as_user(world.user)
        for status in (30, 40):
            store.call("POST", f"/store/associated/order/{order['OrderID']}/status", {"Status": status})
        shipped = {"Status": 60, "Shipments": [{"Carrier": "UPS", "TrackingNumber": "1Z1"}]}
        store.call("POST", f"/store/associated/order/{order['OrderID']}/status", shipped)

        settle()
        events = client.call("GET", f"{path}/event").json()
        sent = [take_delivery(d, timezone.now()) for d in webhook.deliveries.order_by("id")]

        assert [e["Type"] for e in events] == [
            "order.received",
            "order.accepted",
            "order.in_production",
            "order.shipped",
        ]
        assert [e["Data"]["Sequence"] for e in events] == [1, 2, 3, 4]
        assert [json.loads(taken.body) for taken in sent] == events
        for taken in sent:
            assert len(taken.body) < 20_000
            text = taken.body.decode()
            assert [value for value in RECIPIENT.values() if len(value) > 2 and value in text] == []

    def test_decisions_about_associations_are_sent(self, client, path, world):
        operator = world.as_operator()
        decided = []
        for action in ("deny", "approve"):
            requested = client.call("POST", "/association", {"StoreID": "unassociated"}).json()
            decided.append(requested["ID"])
            operator.call("POST", f"/association/{requested['ID']}/{action}", {"Note": "Dear Ada"})

        settle()
        events = client.call("GET", f"{path}/event?type=association.*").json()

        assert [e["Type"] for e in events] == ["association.denied", "association.approved"]
        assert [e["Data"]["AssociationID"] for e in events] == decided
        assert {e["StoreID"] for e in events} == {"unassociated"}
        assert events[1]["Data"]["Grants"]
        assert "Ada" not in json.dumps(events)

    def test_withdrawn_request_is_no_news(self, client, path):
        requested = client.call("POST", "/association", {"StoreID": "unassociated"}).json()
        client.call("POST", f"/association/{requested['ID']}/withdraw")

        assert client.call("GET", f"{path}/event").json() == []


class Looks:
    """Stands in for the pause between two looks for an event."""

    def __init__(self, act, ends=1000):
        self.act, self.ends, self.count = act, ends, 0

    def wait(self, seconds):
        self.count += 1
        self.act(self.count)
        return self.count >= self.ends


def following(response) -> str:
    """The path and query of the next link, below /api/v1."""
    link = response["Link"]
    assert link.endswith('; rel="next"')
    return link.partition("/api/v1")[2].partition(">")[0]
