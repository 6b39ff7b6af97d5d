"""Operators look after webhooks: lists, one webhook with its log, test, disable, enable, send again."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from applications.webhooks.models import Delivery, DeliveryAttempt, Webhook
from applications.webhooks.services.webhooks import delete_webhook, disable_webhook
from tests.factories.webhooks import delivery_of, make_event, make_webhook
from tests.support.pages import text

WEBHOOKS = "/admin/applications/webhook/"
DELIVERIES = "/admin/applications/delivery/"


@pytest.fixture
def webhook(world) -> Webhook:
    return make_webhook(world.application, "https://192.0.43.8/orders", event_types=["order.*"])


@pytest.fixture
def delivery(world, webhook) -> Delivery:
    """One that failed in the end."""
    made = delivery_of(make_event(world.application, "order.shipped"), webhook)
    Delivery.objects.filter(pk=made.pk).update(state="Failed", tries=10, next_try=None)
    for status, error in ((500, ""), (None, "The connection was <refused>.")):
        DeliveryAttempt.objects.create(
            delivery=made,
            timestamp=timezone.now(),
            milliseconds=87,
            status_code=status,
            error=error,
            body="Oh",
        )
    made.refresh_from_db()
    return made


def shown(client, query) -> set[str]:
    return {row.url for row in client.get(WEBHOOKS, query).context["cl"].result_list}


def test_list_finds_and_filters_by_state(world, operator, webhook):
    failing = make_webhook(world.other_application, "https://192.0.43.8/failing")
    Webhook.objects.filter(pk=failing.pk).update(failing_since=timezone.now())
    disabled = make_webhook(world.other_application, "https://192.0.43.8/disabled")
    disable_webhook(webhook=disabled, reason="410")
    delete_webhook(webhook=make_webhook(world.application, "https://192.0.43.8/deleted"))

    assert shown(operator, {}) == {webhook.url, failing.url, disabled.url}
    assert shown(operator, {"health": "failing"}) == {failing.url}
    assert shown(operator, {"health": "enabled"}) == {webhook.url, failing.url}
    assert shown(operator, {"health": "disabled"}) == {disabled.url}
    assert shown(operator, {"q": "orders"}) == {webhook.url}
    assert shown(operator, {"q": "Other"}) == {failing.url, disabled.url}
    page = text(operator.get(WEBHOOKS))
    for state in ("Enabled", "Failing", "Disabled"):
        assert f">{state}<" in page.replace(" ", "")


def test_webhook_is_shown_with_its_last_deliveries_and_no_secret(operator, webhook, delivery):
    page = text(operator.get(f"{WEBHOOKS}{webhook.pk}/change/"))

    assert "order.*" in page
    assert f'href="{DELIVERIES}{delivery.pk}/change/">order.shipped</a>' in page
    assert '<span class="status tone-danger">Failed</span>' in page
    assert escape("The connection was <refused>.") in page
    assert webhook.known_secret not in page
    assert "whsec_" not in page


def test_state_is_the_badge_of_the_list_on_its_page(operator, webhook, delivery):
    Webhook.objects.filter(pk=webhook.pk).update(failing_since=timezone.now())

    for address, state in (
        (f"{WEBHOOKS}{webhook.pk}/change/", "Failing"),
        (f"{DELIVERIES}{delivery.pk}/change/", "Failed"),
    ):
        assert f'<span class="status tone-danger">{state}</span>' in text(operator.get(address))


def test_webhook_without_deliveries_says_what_to_do(operator, webhook):
    assert "“Send test event” shows whether the endpoint responds." in text(
        operator.get(f"{WEBHOOKS}{webhook.pk}/change/")
    )


def test_test_is_sent(operator, webhook):
    page = text(operator.post(f"{WEBHOOKS}{webhook.pk}/test/", follow=True))

    assert "Test event sent" in page
    assert Delivery.objects.get(webhook=webhook).event.type == "webhook.test"
    disable_webhook(webhook=webhook, reason="Enough.")
    assert Delivery.objects.filter(webhook=webhook).count() == 1
    assert "disabled" in text(operator.post(f"{WEBHOOKS}{webhook.pk}/test/", follow=True))
    assert Delivery.objects.filter(webhook=webhook).count() == 1


def test_disabling_is_confirmed_once_and_enabling_reverts_it(operator, webhook):
    address = f"{WEBHOOKS}{webhook.pk}/disable/"

    requested = text(operator.post(address))
    webhook.refresh_from_db()
    assert f"Disable {webhook.url}? No more events are sent to it" in requested
    assert webhook.is_enabled

    assert "Webhook disabled." in text(operator.post(address, {"confirmed": "1"}, follow=True))
    webhook.refresh_from_db()
    assert (webhook.is_enabled, webhook.disabled_reason) == (False, "Disabled by an operator.")

    assert "Webhook enabled." in text(operator.post(f"{WEBHOOKS}{webhook.pk}/enable/", follow=True))
    webhook.refresh_from_db()
    assert webhook.is_enabled


def test_action_is_in_the_history_of_the_webhook(operator, webhook):
    operator.post(f"{WEBHOOKS}{webhook.pk}/disable/", {"confirmed": "1"})

    page = text(operator.get(f"{WEBHOOKS}{webhook.pk}/history/"))

    assert "Changed by operator" in page
    assert f"{WEBHOOKS}{webhook.pk}/disable/" in page
    assert LogEntry.objects.count() == 0


def test_deliveries_are_found_by_webhook_state_and_event(world, operator, webhook, delivery):
    other = make_webhook(world.application, "https://192.0.43.8/all")
    waiting = delivery_of(make_event(world.application, "order.accepted"), webhook)

    def found(query) -> set[int]:
        return {row.pk for row in operator.get(DELIVERIES, query).context["cl"].result_list}

    assert found({}) == set(Delivery.objects.values_list("pk", flat=True))
    assert found({"webhook": webhook.pk}) == {delivery.pk, waiting.pk}
    assert found({"webhook": webhook.pk, "state": "Failed"}) == {delivery.pk}
    assert found({"webhook": "no id"}) == set()
    assert {
        row.event_id for row in Delivery.objects.filter(pk__in=found({"q": delivery.event.event_id}))
    } == {delivery.event_id}
    assert delivery_of(waiting.event, other).pk in found({})


def test_deliveries_stay_in_the_order_they_were_made(operator, delivery):
    assert "?o=" not in text(operator.get(DELIVERIES))


def test_delivery_shows_what_was_sent_and_every_answer(operator, delivery):
    page = text(operator.get(f"{DELIVERIES}{delivery.pk}/change/"))

    assert str(delivery.event.event_id) in page
    assert escape("The connection was <refused>.") in page
    assert page.index("No response") < page.index("<b>500</b> in 87 ms")


def test_delivery_is_sent_again(operator, delivery):
    page = text(operator.post(f"{DELIVERIES}{delivery.pk}/resend/", follow=True))

    delivery.refresh_from_db()
    assert "Delivery resent." in page
    assert (delivery.state, delivery.tries) == ("Pending", 0)
    assert delivery.next_try < timezone.now() + timedelta(minutes=1)


def test_delivery_of_a_disabled_webhook_is_refused_with_the_reason(operator, webhook, delivery):
    disable_webhook(webhook=webhook, reason="410")

    page = text(operator.post(f"{DELIVERIES}{delivery.pk}/resend/", follow=True))

    delivery.refresh_from_db()
    assert f"{webhook}: " in page
    assert delivery.state == "Failed"


def test_several_deliveries_are_confirmed_once_and_resent(operator, delivery):
    values = {"action": "resend", "_selected_action": [str(delivery.pk)]}

    requested = text(operator.post(DELIVERIES, values))
    assert "Resend these events?" in requested
    delivery.refresh_from_db()
    assert delivery.state == "Failed"

    done = text(operator.post(DELIVERIES, {**values, "confirmed": "1"}, follow=True))
    delivery.refresh_from_db()
    assert "1 delivery resent." in done
    assert delivery.state == "Pending"


def test_only_operators_and_only_forms_of_their_own(world, operator, webhook, delivery):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world.operator)
    addresses = [f"{WEBHOOKS}{webhook.pk}/{name}/" for name in ("test", "enable", "disable")]
    addresses.append(f"{DELIVERIES}{delivery.pk}/resend/")
    for address in addresses:
        assert operator.get(address).status_code == 405
        assert strict.post(address, {"confirmed": "1"}).status_code == 403

    operator.force_login(world.user)
    for address in addresses:
        assert operator.post(address, {"confirmed": "1"}).status_code == 403
    for address in (
        WEBHOOKS,
        DELIVERIES,
        f"{WEBHOOKS}{webhook.pk}/change/",
        f"{DELIVERIES}{delivery.pk}/change/",
    ):
        assert operator.get(address).status_code == 403
    webhook.refresh_from_db()
    assert webhook.is_enabled
    assert Delivery.objects.get(pk=delivery.pk).state == "Failed"


def test_question_about_one_webhook_takes_no_selection_of_a_list(operator, webhook):
    page = operator.post(f"/admin/applications/webhook/{webhook.pk}/disable/", {"select_across": "1"})

    assert page.status_code == 200
    assert b'name="confirmed"' in page.content
