import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import Role
from applications.webhooks.models import Delivery, DeliveryAttempt, Event, Webhook
from applications.webhooks.services.webhooks import change_webhook, create_webhook, disable_webhook
from fulfillment.core.secrets import decrypt

URL = "https://93.184.216.34/hooks"
SENT = {"url": URL, "event_types": ["order.*"], "store_ids": ["associated", "demo"]}


@pytest.fixture
def base(world) -> str:
    return f"/applications/{world.application.pk}/webhooks"


@pytest.fixture
def webhook(world) -> Webhook:
    return create_webhook(application=world.application, values={"URL": URL, "EventTypes": ["*"]})[0]


def delivery(webhook: Webhook, state: str = "Delivered", number: int = 1) -> Delivery:
    """One that was tried once, answered 200 where it was delivered and 500 else."""
    now = timezone.now()
    event = Event.objects.create(
        application=webhook.application,
        type="order.shipped",
        timestamp=now,
        data={"OrderNumber": f"N-{number}", "Note": "<b>bold</b>"},
    )
    made = Delivery.objects.create(
        event=event,
        webhook=webhook,
        state=state,
        tries=1,
        created=now,
        next_try=now + timedelta(hours=2) if state == "Pending" else None,
    )
    DeliveryAttempt.objects.create(
        delivery=made,
        timestamp=now,
        milliseconds=128,
        status_code=200 if state == "Delivered" else 500,
        body="<script>alert(1)</script>",
    )
    return made


def text(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return unescape(response.content.decode())


@pytest.mark.parametrize(
    ("url", "german"),
    [
        ("http://example.com/in", "Sie muss mit https:// beginnen."),
        ("https://shop.internal/in", "Der Host shop.internal ist kein Name des öffentlichen Internets."),
        ("https://localhost/in", "Auch der Betreiber des Dienstes kann es erlauben"),
        ("https://a@93.184.216.34/", "Sie darf keinen Benutzernamen und kein Passwort enthalten."),
    ],
)
def test_refused_url_is_explained_in_the_language_of_the_page(base, browser, url, german):
    page = browser.post(f"{base}/new", {**SENT, "url": url}, headers={"Accept-Language": "de"})

    assert german in unescape(page.content.decode())


def test_disabled_webhook_says_why_in_the_language_of_the_page(base, webhook, browser):
    change_webhook(webhook=webhook, values={"IsEnabled": False})

    page = browser.get(f"{base}/{webhook.pk}", headers={"Accept-Language": "de"})

    assert "Von der Anwendung deaktiviert." in page.content.decode()


def test_webhook_is_made_and_its_secret_shown_once(world, base, browser):
    assert "No webhooks yet" in text(browser, base)

    response = browser.post(f"{base}/new", SENT)

    webhook = Webhook.objects.get()
    secret = decrypt(webhook.secrets.get().ciphertext)
    assert response["Location"] == f"{base}/{webhook.pk}"
    assert (webhook.url, webhook.event_types, webhook.store_ids) == (URL, ["order.*"], ["associated", "demo"])
    assert secret.startswith("whsec_")
    assert not any(secret in str(session.get_decoded()) for session in Session.objects.all())
    browser.head(response["Location"])
    assert secret in text(browser, response["Location"])
    assert secret not in text(browser, response["Location"])


def test_refusals_stand_at_their_fields_and_keep_what_was_typed(world, base, browser):
    response = browser.post(
        f"{base}/new", {"url": "http://10.0.0.1/far", "event_types": [], "store_ids": ["nowhere"]}
    )
    assert list(response.context["form"].errors) == ["store_ids", "event_types"]

    response = browser.post(
        f"{base}/new", {"url": "http://10.0.0.1/far", "event_types": ["*"], "store_ids": ["demo"]}
    )

    assert set(response.context["form"].errors) == {"url"}
    page = response.content.decode()
    assert 'value="http://10.0.0.1/far"' in page
    assert re.search('value="demo"[^>]* checked', page)
    assert not Webhook.objects.exists()


def test_all_events_leave_no_doubt_about_the_other_choices(world, base, browser, webhook):
    page = text(browser, f"{base}/new")
    assert re.search(r'name="which" value="all"[^>]* checked', page)
    assert 'value="*"' not in page
    assert all(name in page for name in ("Associated Print", "Demo Print", "All events of budgets"))

    browser.post(f"{base}/new", {**SENT, "which": "all"})
    assert Webhook.objects.latest("created").event_types == ["*"]

    chosen = Webhook.objects.latest("created")
    values = {"url": URL, "which": "chosen", "event_types": ["order.*"], "is_enabled": "on"}
    browser.post(f"{base}/{chosen.pk}/edit", values)
    chosen.refresh_from_db()
    assert chosen.event_types == ["order.*"]
    none = browser.post(f"{base}/{chosen.pk}/edit", {**values, "event_types": []})
    assert "Select at least one event type, or all events." in none.content.decode()


def test_webhook_is_changed_unless_it_changed_meanwhile(world, base, browser, webhook):
    edit = f"{base}/{webhook.pk}/edit"
    version = browser.get(edit).context["form"]["seen"].value()
    values = {"url": URL, "event_types": ["order.shipped"], "is_enabled": "on", "seen": version}

    assert browser.post(edit, values)["Location"] == f"{base}/{webhook.pk}"
    late = browser.post(edit, {**values, "event_types": ["order.received"]})

    webhook.refresh_from_db()
    assert webhook.event_types == ["order.shipped"]
    assert "has changed since" in late.content.decode()


def test_secret_is_replaced_after_asking(world, base, browser, webhook):
    address = f"{base}/{webhook.pk}/secret"
    assert "24 hours" in text(browser, address)
    assert webhook.secrets.count() == 1

    browser.post(address)

    assert webhook.secrets.count() == 2
    assert decrypt(webhook.secrets.get(expires=None).ciphertext) in text(browser, f"{base}/{webhook.pk}")


def test_disabled_webhook_is_enabled(world, base, browser, webhook):
    disable_webhook(webhook=webhook, reason="The endpoint responded with 410 Gone.")
    page = text(browser, f"{base}/{webhook.pk}")
    assert ("410 Gone" in page, "Send test event" in page) == (True, False)
    assert "enable it first" in text_after(browser.post(f"{base}/{webhook.pk}/test", follow=True))

    browser.post(f"{base}/{webhook.pk}/enable")

    webhook.refresh_from_db()
    assert webhook.is_enabled


def test_webhook_is_deleted_after_asking(world, base, browser, webhook):
    address = f"{base}/{webhook.pk}/delete"
    assert "Delete this webhook?" in text(browser, address)

    assert browser.post(address)["Location"] == base

    assert "No webhooks yet" in text(browser, base)
    assert browser.get(f"{base}/{webhook.pk}").status_code == 404


def test_test_event_leads_to_its_delivery(world, base, browser, webhook):
    response = browser.post(f"{base}/{webhook.pk}/test")

    event = Event.objects.get()
    assert response["Location"] == f"{base}/{webhook.pk}/deliveries/{event.event_id}"
    page = text(browser, response["Location"])
    assert '"Type": "webhook.test"' in page
    assert ("No attempts yet" in page, 'data-refresh="2000"' in page) == (True, True)


def test_delivery_shows_what_was_sent_and_answered(world, base, browser, webhook):
    failed = delivery(webhook, "Pending")

    response = browser.get(f"{base}/{webhook.pk}/deliveries/{failed.event.event_id}")

    page = " ".join(response.content.decode().split())
    assert ("128 ms" in page, "> 500 <" in page, "Next attempt" in page) == (True, True, True)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;b&gt;bold" in page
    assert "data-refresh" not in page


def test_delivery_is_sent_again(world, base, browser, webhook):
    failed = delivery(webhook, "Failed")

    browser.post(f"{base}/{webhook.pk}/deliveries/{failed.event.event_id}/resend")

    failed.refresh_from_db()
    assert (failed.state, failed.tries) == ("Pending", 0)


def test_missed_events_are_recovered_since_a_local_time(world, base, browser, webhook):
    world.user.time_zone = "America/Denver"
    world.user.save()
    failed = delivery(webhook, "Failed")
    Event.objects.filter(pk=failed.event_id).update(timestamp=timezone.now() - timedelta(hours=3))
    late = (timezone.now() - timedelta(hours=7 + 2)).strftime("%Y-%m-%dT%H:%M")
    early = (timezone.now() - timedelta(hours=7 + 4)).strftime("%Y-%m-%dT%H:%M")

    assert "No events were missed" in text_after(
        browser.post(f"{base}/{webhook.pk}", {"since": late}, follow=True)
    )
    assert "Recovering 1 event" in text_after(
        browser.post(f"{base}/{webhook.pk}", {"since": early}, follow=True)
    )

    response = browser.post(f"{base}/{webhook.pk}", {"since": "2020-01-01T00:00"})
    assert "kept for 30 days" in str(response.context["form"].errors["since"])
    assert 'value="2020-01-01T00:00"' in response.content.decode()


def test_log_is_filtered_and_paged_with_a_fixed_number_of_queries(
    world, base, browser, webhook, django_assert_max_num_queries
):
    for number in range(30):
        delivery(webhook, "Failed" if number % 10 == 0 else "Delivered", number)

    with django_assert_max_num_queries(12):
        newest = text(browser, f"{base}/{webhook.pk}")
    assert ("N-29" in newest, "N-5<" in newest, "N-4<" in newest) == (True, True, False)
    older = newest.split('rel="next" href="')[1].split('"')[0]
    assert ("N-4<" in text(browser, f"{base}/{webhook.pk}{older}"), older[:8]) == (True, "?before=")
    failed = text(browser, f"{base}/{webhook.pk}?state=Failed")
    assert failed.count("HTTP 500") == 3
    assert "answered 200" not in failed
    assert "No deliveries found" in text(browser, f"{base}/{webhook.pk}?state=Pending")
    for nonsense in ("?before=x", "?before=99999999999999999999", f"?before={'9' * 5000}", "?state=Nonsense"):
        assert "N-29" in text(browser, f"{base}/{webhook.pk}{nonsense}")


def test_readers_see_the_log_and_change_nothing(world, base, signed_in, webhook):
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Read")
    sent, reader = delivery(webhook), signed_in(world.outsider)
    base_of_webhook = f"{base}/{webhook.pk}"

    for address in (base, base_of_webhook, f"{base_of_webhook}/deliveries/{sent.event.event_id}"):
        # To sign out, and to end the confirmation.
        assert reader.get(address).content.decode().count('method="post"') == 2, address
    for part in ("/new", "", "/edit", "/enable", "/secret", "/test", "/delete"):
        address = f"{base}/new" if part == "/new" else f"{base_of_webhook}{part}"
        assert reader.post(address, SENT).status_code == 403, part
    assert reader.post(f"{base_of_webhook}/deliveries/{sent.event.event_id}/resend").status_code == 403


def test_webhooks_of_other_applications_are_not_found(world, signed_in, webhook):
    other = signed_in(world.outsider)
    sent = delivery(webhook)
    address = f"/applications/{world.other_application.pk}/webhooks/{webhook.pk}"

    assert other.get(address).status_code == 404
    assert other.post(f"{address}/delete").status_code == 404
    assert other.get(f"{address}/deliveries/{sent.event.event_id}").status_code == 404


def text_after(response) -> str:
    return unescape(response.content.decode())
