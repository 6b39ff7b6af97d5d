import json
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Notification, Role
from applications.registration.services.notices import owner_addresses, send_mail_to_owners
from applications.webhooks.models import Delivery, DeliveryAttempt, Event, Webhook, WebhookSecret
from applications.webhooks.selectors.webhooks import webhook_etag
from applications.webhooks.services.deliveries import (
    KEPT_ATTEMPTS,
    recover_deliveries,
    resend_deliveries,
    resend_delivery,
    send_test_event,
)
from applications.webhooks.services.delivery_attempts import LEASE, EndpointResponse, record_attempt
from applications.webhooks.services.events import record_event
from applications.webhooks.services.webhooks import (
    MAX_SECRETS,
    MAX_WEBHOOKS,
    change_webhook,
    create_webhook,
    delete_webhook,
    disable_webhook,
    enable_webhook,
    review_failing_webhooks,
    rotate_secret,
)
from fulfillment.core.errors import Conflict, Invalid, PreconditionFailed
from fulfillment.core.secrets import decrypt
from tests.factories.webhooks import PUBLIC_URL, delivery_of, make_event, make_webhook, take_delivery

HOUR = timedelta(hours=1)


def take(delivery, now=None):
    return take_delivery(delivery, now)


def mails():
    """The notifications that wait to be mailed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT args FROM procrastinate_jobs WHERE task_name = 'accounts.send_notification' ORDER BY id"
        )
        return [Notification.objects.get(**json.loads(row[0])) for row in cursor.fetchall()]


@pytest.mark.parametrize(
    ("event_types", "store_ids", "kind", "store_id", "hears"),
    [
        (["*"], [], "order.received", "associated", True),
        (["order.*"], [], "order.shipped", "associated", True),
        (["order.*"], [], "association.approved", "associated", False),
        (["order.shipped"], [], "order.shipped", "associated", True),
        (["order.shipped"], [], "order.received", "associated", False),
        (["association.denied", "order.*"], [], "association.denied", "", True),
        (["*"], ["associated"], "order.received", "associated", True),
        (["*"], ["associated", "demo"], "order.received", "demo", True),
        (["*"], ["demo"], "order.received", "associated", False),
        (["*"], ["demo"], "webhook.disabled", "", True),
    ],
)
def test_webhook_receives_the_events_it_names(world, event_types, store_ids, kind, store_id, hears):
    webhook = make_webhook(world.application, event_types=event_types, store_ids=store_ids)
    make_webhook(world.other_application)

    event = make_event(world.application, kind, store_id=store_id)

    webhook_ids = list(event.deliveries.values_list("webhook", flat=True))
    assert webhook_ids == ([webhook.pk] if hears else [])


def test_event_and_deliveries_are_one_statement(world, django_assert_num_queries):
    webhooks = [make_webhook(world.application) for _ in range(3)]
    with transaction.atomic(), django_assert_num_queries(1):
        record_event(
            application_id=world.application.pk, store_id="associated", type="order.received", data={}
        )

    assert {d.webhook for d in Delivery.objects.all()} == set(webhooks)


def test_event_that_is_rolled_back_leaves_nothing(world):
    make_webhook(world.application)
    with transaction.atomic():
        record_event(application_id=world.application.pk, store_id="", type="order.received", data={})
        transaction.set_rollback(True)

    assert (Event.objects.count(), Delivery.objects.count()) == (0, 0)


def test_disabled_and_deleted_webhooks_hear_of_nothing(world):
    disabled, deleted = make_webhook(world.application), make_webhook(world.application)
    change_webhook(webhook=disabled, values={"IsEnabled": False})
    delete_webhook(webhook=deleted)

    assert not make_event(world.application).deliveries.exists()


def test_secret_is_stored_encrypted_and_signs_along_for_a_day(world):
    webhook = make_webhook(world.application)
    new = rotate_secret(webhook=webhook)
    delivery = delivery_of(make_event(world.application), webhook)

    stored = WebhookSecret.objects.filter(webhook=webhook).order_by("pk")
    assert [decrypt(secret.ciphertext) for secret in stored] == [webhook.known_secret, new]
    assert webhook.known_secret.encode() not in b"".join(bytes(secret.ciphertext) for secret in stored)
    claimed = take(delivery)
    assert [decrypt(text) for text in claimed.ciphertexts] == [new, webhook.known_secret]
    resend_delivery(delivery=delivery)
    later = take(delivery, timezone.now() + 24 * HOUR + timedelta(seconds=1))
    assert [decrypt(text) for text in later.ciphertexts] == [new]


def test_rotating_twice_keeps_all_secrets_of_the_day(world):
    webhook = make_webhook(world.application)
    second, third = rotate_secret(webhook=webhook), rotate_secret(webhook=webhook)

    claimed = take(delivery_of(make_event(world.application), webhook))

    assert [decrypt(text) for text in claimed.ciphertexts] == [third, second, webhook.known_secret]


def test_secrets_in_force_are_limited(world):
    """Each signs every delivery: thousands of them would keep the sender from the deliveries of others."""
    webhook = make_webhook(world.application)
    for _ in range(MAX_SECRETS - 1):
        last = rotate_secret(webhook=webhook)
    with pytest.raises(Conflict, match="the first one ends at") as refused:
        rotate_secret(webhook=webhook)

    assert refused.value.code == "too_many_secrets"
    claimed = take(delivery_of(make_event(world.application), webhook))
    assert len(claimed.ciphertexts) == MAX_SECRETS
    assert decrypt(claimed.ciphertexts[0]) == last
    WebhookSecret.objects.filter(expires__isnull=False).update(expires=timezone.now())
    assert rotate_secret(webhook=webhook) != last


def test_application_has_a_limited_number_of_webhooks(world):
    for _ in range(MAX_WEBHOOKS):
        last = make_webhook(world.application)
    with pytest.raises(Invalid) as refused:
        make_webhook(world.application)

    assert refused.value.code == "too_many_webhooks"
    delete_webhook(webhook=last)
    make_webhook(world.application)


def test_every_fault_is_named(world):
    values = {
        "URL": "https://127.0.0.1/",
        "EventTypes": ["order.*", "order.lost"],
        "StoreIDs": ["", "x" * 65],
    }
    with pytest.raises(Invalid) as refused:
        create_webhook(application=world.application, values=values)

    assert [fault.pointer for fault in refused.value.faults] == [
        "/URL",
        "/EventTypes/1",
        "/StoreIDs/0",
        "/StoreIDs/1",
    ]


@pytest.mark.parametrize("values", [{}, {"URL": PUBLIC_URL, "EventTypes": []}])
def test_webhook_needs_an_address_and_something_to_hear_of(world, values):
    with pytest.raises(Invalid):
        create_webhook(application=world.application, values=values)

    assert not Webhook.objects.exists()


def test_change_is_refused_after_a_concurrent_change(world):
    webhook = make_webhook(world.application)
    etag = webhook_etag(webhook)
    changed = change_webhook(webhook=webhook, values={"EventTypes": ["order.*"]}, if_match=[etag])
    with pytest.raises(PreconditionFailed):
        change_webhook(webhook=webhook, values={"EventTypes": ["*"]}, if_match=[etag])

    assert changed.event_types == ["order.*"]


def test_deleted_webhook_takes_its_secrets_and_cannot_be_changed(world):
    webhook = make_webhook(world.application)
    delivery = delivery_of(make_event(world.application), webhook)

    delete_webhook(webhook=webhook)

    assert take(delivery) is None
    assert not WebhookSecret.objects.exists()
    for act in (lambda: rotate_secret(webhook=webhook), lambda: enable_webhook(webhook=webhook)):
        with pytest.raises(Conflict):
            act()


def test_disabling_notifies_the_other_webhooks_and_the_owners(world):
    gone, other = make_webhook(world.application), make_webhook(world.application, store_ids=["demo"])

    disable_webhook(webhook=gone, reason="Gone.")
    disable_webhook(webhook=gone, reason="Again.")

    event = Event.objects.get(type="webhook.disabled")
    assert (event.application, event.store_id) == (world.application, "")
    assert event.data == {
        "WebhookID": str(gone.pk),
        "URL": gone.url,
        "DisabledReason": "Gone.",
        "IsTest": False,
    }
    assert [d.webhook for d in event.deliveries.all()] == [other]
    (mail,) = mails()
    assert mail.user == world.user
    assert "disabled" in mail.title
    assert gone.url in mail.text


def test_mail_goes_to_the_owner_and_those_who_may_write(world):
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Write")
    Role.objects.create(user=world.operator, application=world.application, grant="Application.Self.Read")
    world.user.is_active = True

    assert owner_addresses(world.application) == ["outsider@print.example", "user@print.example"]
    world.outsider.is_active = False
    world.outsider.save()
    assert owner_addresses(world.application) == ["user@print.example"]


def test_mail_is_sent_to_each_alone(world, mailoutbox):
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Write")

    send_mail_to_owners(application_id=str(world.application.pk), subject="One", text="Two")

    assert [mail.to for mail in mailoutbox] == [["outsider@print.example"], ["user@print.example"]]
    assert (mailoutbox[0].subject, mailoutbox[0].body) == ("One", "Two\n")


@pytest.mark.parametrize(
    ("failing_for", "is_enabled", "mailed"),
    [(23.9, True, 0), (24, True, 1), (119.9, True, 1), (120, False, 1), (500, False, 1)],
)
def test_failing_webhook_is_warned_of_and_disabled(world, failing_for, is_enabled, mailed):
    now = timezone.now()
    webhook = make_webhook(world.application)
    Webhook.objects.update(failing_since=now - failing_for * HOUR)

    review_failing_webhooks(now=now)
    review_failing_webhooks(now=now)

    webhook.refresh_from_db()
    assert (webhook.is_enabled, len(mails())) == (is_enabled, mailed)
    assert ("120 hours" in webhook.disabled_reason) is not is_enabled


def test_success_ends_the_failing(world):
    now = timezone.now()
    webhook = make_webhook(world.application)
    delivery = delivery_of(make_event(world.application), webhook)
    Webhook.objects.update(failing_since=now - 119 * HOUR, warned=now)

    record_attempt(claimed=take(delivery), response=EndpointResponse(5, 204), started=now, now=now)
    review_failing_webhooks(now=now + 5 * HOUR)

    webhook.refresh_from_db()
    assert (webhook.is_enabled, webhook.failing_since, webhook.warned) == (True, None, None)
    assert mails() == []


def test_test_event_goes_to_one_webhook_without_subscription(world):
    webhook = make_webhook(world.application, event_types=["order.shipped"], store_ids=["demo"])
    make_webhook(world.application)

    delivery = send_test_event(webhook=webhook)

    assert (delivery.webhook, delivery.event.type) == (webhook, "webhook.test")
    assert Delivery.objects.count() == 1
    assert take(delivery).event_id == delivery.event.event_id


def test_resend_restarts_a_delivery_in_any_state(world):
    webhook = make_webhook(world.application)
    delivery = delivery_of(make_event(world.application), webhook)
    record_attempt(
        claimed=take(delivery), response=EndpointResponse(5, 200), started=timezone.now(), now=timezone.now()
    )

    again = resend_delivery(delivery=delivery)

    assert (again.pk, again.state, again.tries) == (delivery.pk, "Pending", 0)
    assert take(again).tries == 1


def test_resending_without_end_keeps_the_newest_attempts(world):
    webhook, now = make_webhook(world.application), timezone.now()
    chosen, other = (delivery_of(make_event(world.application), webhook) for _ in range(2))
    made = [
        DeliveryAttempt(delivery=delivery, timestamp=now, milliseconds=5) for delivery in (chosen, other) * 30
    ]
    DeliveryAttempt.objects.bulk_create(made)

    resend_delivery(delivery=chosen)

    kept = list(chosen.attempts.values_list("pk", flat=True))
    assert kept == [attempt.pk for attempt in made if attempt.delivery == chosen][-KEPT_ATTEMPTS:]
    assert other.attempts.count() == 30
    assert resend_deliveries(webhook=webhook, event_ids=[chosen.event.event_id, other.event.event_id]) == 2
    assert other.attempts.count() == KEPT_ATTEMPTS


def test_recover_sends_what_failed_and_what_was_missed(world):
    now = timezone.now()
    webhook = make_webhook(world.application, event_types=["order.*"], store_ids=["associated"])
    before = make_event(world.application, timestamp=now - 3 * HOUR)
    delivered, failed, pending = (make_event(world.application) for _ in range(3))
    Delivery.objects.filter(event=delivered).update(state="Delivered", next_try=None)
    Delivery.objects.filter(event__in=[failed, before]).update(state="Failed", next_try=None, tries=10)
    disable_webhook(webhook=webhook, reason="Gone.")
    missed = make_event(world.application)
    make_event(world.application, store_id="demo")
    make_event(world.application, "association.approved")
    make_event(world.other_application)
    with pytest.raises(Conflict):
        recover_deliveries(webhook=webhook, since=now - HOUR)
    enable_webhook(webhook=webhook)

    assert recover_deliveries(webhook=webhook, since=now - HOUR) == 2
    assert recover_deliveries(webhook=webhook, since=now - HOUR) == 0

    states = dict(Delivery.objects.values_list("event", "state"))
    assert states == {
        before.pk: "Failed",
        delivered.pk: "Delivered",
        failed.pk: "Pending",
        pending.pk: "Pending",
        missed.pk: "Pending",
    }


def test_recover_sends_at_once_what_waits_for_a_later_attempt(world):
    webhook = make_webhook(world.application)
    now = timezone.now()
    first, later, held, fresh = (delivery_of(make_event(world.application), webhook) for _ in range(4))
    send_test_event(webhook=webhook)
    for delivery in (first, later):
        claimed = take(delivery, now)
        record_attempt(claimed=claimed, response=EndpointResponse(5, 500), started=now, now=now)
    Delivery.objects.filter(pk=later.pk).update(tries=7, next_try=now + 14 * HOUR)
    assert take(held, now)

    assert recover_deliveries(webhook=webhook, since=now - HOUR) == 2

    for delivery in (first, later):
        delivery.refresh_from_db()
        assert (delivery.state, delivery.tries) == ("Pending", 0)
        assert take(delivery)
    # What a worker holds is not sent a second time meanwhile, and what is new keeps its place.
    held.refresh_from_db()
    assert (held.tries, held.next_try) == (1, now + LEASE)
    assert Delivery.objects.get(pk=fresh.pk).next_try == fresh.next_try


def test_recovering_without_end_keeps_the_newest_attempts(world):
    webhook, now = make_webhook(world.application), timezone.now()
    failed, other = (delivery_of(make_event(world.application), webhook) for _ in range(2))
    Delivery.objects.filter(pk=failed.pk).update(state="Failed", next_try=None)
    made = [
        DeliveryAttempt(delivery=delivery, timestamp=now, milliseconds=5) for delivery in (failed, other) * 30
    ]
    DeliveryAttempt.objects.bulk_create(made)

    assert recover_deliveries(webhook=webhook, since=now - HOUR) == 1

    kept = list(failed.attempts.values_list("pk", flat=True))
    assert kept == [attempt.pk for attempt in made if attempt.delivery == failed][-KEPT_ATTEMPTS:]
    assert other.attempts.count() == 30


@pytest.mark.parametrize("since", [-31 * 24 * HOUR, HOUR])
def test_recover_reaches_back_thirty_days(world, since):
    webhook = make_webhook(world.application)

    with pytest.raises(Invalid) as refused:
        recover_deliveries(webhook=webhook, since=timezone.now() + since)

    assert refused.value.faults[0].pointer == "/Since"


@pytest.mark.parametrize(
    "act", [send_test_event, lambda webhook: recover_deliveries(webhook=webhook, since=timezone.now())]
)
def test_disabled_webhook_is_sent_nothing(world, act):
    webhook = make_webhook(world.application)
    change_webhook(webhook=webhook, values={"IsEnabled": False})

    with pytest.raises(Conflict) as refused:
        act(webhook=webhook)

    assert refused.value.code == "webhook_disabled"
