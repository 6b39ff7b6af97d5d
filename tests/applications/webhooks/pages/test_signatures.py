"""What was sent to the byte, the signature tester, and the log's filters."""

import time
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from standardwebhooks import Webhook as Receiver

from applications.webhooks.models import Delivery, DeliveryAttempt, Event
from applications.webhooks.selectors.deliveries import find_delivery
from applications.webhooks.selectors.signatures import headers_in, sent_body, sent_headers, verify_signature
from applications.webhooks.services.webhooks import create_webhook, rotate_secret


@pytest.fixture
def made(world):
    return create_webhook(application=world.application, values={"URL": "https://93.184.216.34/in"})


def sent(webhook, number=1, state="Delivered", kind="order.shipped"):
    now = timezone.now()
    event = Event.objects.create(
        application=webhook.application,
        store_id="associated",
        type=kind,
        timestamp=now,
        data={"OrderNumber": f"1000{number}", "Status": 60},
    )
    delivery = Delivery.objects.create(
        event=event,
        webhook=webhook,
        state=state,
        tries=1,
        created=now,
        next_try=now + timedelta(hours=2) if state == "Pending" else None,
    )
    attempt = DeliveryAttempt.objects.create(
        delivery=delivery, timestamp=now, milliseconds=3, status_code=200
    )
    return find_delivery(webhook, event.event_id), attempt


@pytest.fixture
def received(made):
    delivery, attempt = sent(made[0])
    return sent_body(delivery).decode(), sent_headers(delivery, attempt)


def verdict(webhook, body, headers, **later):
    return verify_signature(webhook, body=body, headers=headers, now=timezone.now() + timedelta(**later))


def test_headers_shown_are_those_a_receiver_verifies(made, received):
    body, headers = received

    assert Receiver(made[1]).verify(body, headers)["Type"] == "order.shipped"
    assert headers["User-Agent"].startswith("StoreFulfillment")


def test_valid_signature_is_distinguished_from_an_old_one(made, received):
    assert verdict(made[0], *received).is_valid
    assert verdict(made[0], *received).notes == ()
    late = verdict(made[0], *received, minutes=6)
    assert (late.is_valid, "5 minutes old" in late.notes[0]) == (True, True)


def test_body_is_signed_once_for_thousands_of_signatures(made, received, monkeypatch):
    body, headers = received
    signed, sign = [], Receiver.sign
    monkeypatch.setattr(Receiver, "sign", lambda *sent: signed.append(sent) or sign(*sent))
    sent_signatures = " ".join(["v1,wrong"] * 2000)

    outcome = verdict(made[0], f" {body} ", {**headers, "webhook-signature": sent_signatures})

    # As it is, and with each change that may have been made to it.
    assert (outcome.is_valid, len(signed)) == (False, 3)


def test_replaced_secret_is_named(made, received):
    rotate_secret(webhook=made[0])

    outcome = verdict(made[0], *received)

    assert outcome.is_valid
    assert "replaced secret" in outcome.notes[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda body, headers: (body + "\n", headers), "whitespace around"),
        (lambda body, headers: (body.replace('":"', '": "'), headers), "indentation of the body"),
        (
            lambda body, headers: (body.replace("Shipped", "x"), headers | {"webhook-timestamp": "1"}),
            "not created with a secret",
        ),
        (lambda body, headers: (body, headers | {"webhook-id": "another"}), "different requests"),
        (
            lambda body, headers: (body, headers | {"webhook-signature": "v1,AAAA"}),
            "not created with a secret",
        ),
        (lambda body, headers: (body, headers | {"webhook-signature": "sha256=5"}), "starts with"),
        (lambda body, headers: (body, headers | {"webhook-timestamp": "now"}), "not a number"),
        (lambda body, headers: (body, {"webhook-id": "1"}), "Missing: webhook-timestamp, webhook-signature"),
        (lambda body, headers: ("é{", headers), "not created with a secret"),
    ],
)
def test_usual_mistakes_are_named(made, received, change, reason):
    outcome = verdict(made[0], *change(*received))

    assert not outcome.is_valid
    assert reason in outcome.reason


def test_headers_are_found_in_any_pasted_text():
    text = "POST /in HTTP/1.1\nHost: a\n Webhook-ID:  7 \r\nwebhook-signature: v1,a= v1,b=\nnonsense"

    assert headers_in(text) == {"webhook-id": "7", "webhook-signature": "v1,a= v1,b="}


def test_many_spaces_in_a_header_cost_no_time():
    began = time.process_time()
    headers = headers_in("webhook-id: a" + " " * 40_000 + "b")

    assert headers == {"webhook-id": "a" + " " * 40_000 + "b"}
    assert time.process_time() - began < 2


def test_tester_begins_with_the_latest_request_and_is_for_those_who_may_write(world, made, received):
    browser, reader = Client(), Client()
    browser.force_login(world.user)
    reader.force_login(world.outsider)
    address = f"/applications/{world.application.pk}/webhooks/{made[0].pk}/signature"
    form = browser.get(address).context["form"]

    page = browser.post(address, {"headers": form.initial["headers"], "body": form.initial["body"]})

    assert page.context["verdict"].is_valid
    assert made[1] not in page.content.decode()
    assert reader.get(address).status_code == 403


def test_several_are_sent_again_and_only_those_of_the_webhook(world, made):
    browser = Client()
    browser.force_login(world.user)
    other, _ = create_webhook(
        application=world.other_application, values={"URL": "https://93.184.216.34/other"}
    )
    first, second, third, foreign = sent(made[0]), sent(made[0], 2), sent(made[0], 3), sent(other, 4)
    address = f"/applications/{world.application.pk}/webhooks/{made[0].pk}"

    events = [str(pair[0].event.event_id) for pair in (first, second, foreign)]
    browser.post(f"{address}/resend", {"event": [*events, "nonsense"]})

    states = [Delivery.objects.get(pk=pair[0].pk).state for pair in (first, second, third, foreign)]
    assert states == ["Pending", "Pending", "Delivered", "Delivered"]
    assert browser.post(f"{address}/resend", follow=True).status_code == 200


def test_log_is_filtered_by_state_event_and_order(world, made):
    browser = Client()
    browser.force_login(world.user)
    for number, state, kind in (
        (1, "Failed", "order.shipped"),
        (2, "Delivered", "order.shipped"),
        (3, "Delivered", "order.received"),
    ):
        sent(made[0], number, state, kind)
    address = f"/applications/{world.application.pk}/webhooks/{made[0].pk}"

    def numbers(query):
        shown = browser.get(f"{address}?{query}").context["deliveries"]
        return {row["delivery"].event.data["OrderNumber"] for row in shown}

    assert numbers("type=order.shipped") == {"10001", "10002"}
    assert numbers("type=order.shipped&state=Failed") == {"10001"}
    assert numbers("order=10003") == {"10003"}
    assert numbers("type=nonsense") == {"10001", "10002", "10003"}
    assert numbers("order=%27") == set()


@pytest.mark.parametrize("depth", [30, 254, 255, 900, 1_023, 5_000])
def test_body_of_any_depth_gets_a_verdict(made, received, depth):
    body = f'{{"EventID": "1", "x": {"[" * depth}{"]" * depth}}}'

    assert not verdict(made[0], body, received[1]).is_valid
