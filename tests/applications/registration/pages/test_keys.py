from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.selectors.users import subscription_keys
from applications.registration.services.keys import add_key
from fulfillment.core.secrets import decrypt


@pytest.fixture
def address(world) -> str:
    return f"/applications/{world.application.pk}/keys"


def value_of(key) -> str:
    return decrypt(key.ciphertext)


def test_keys_are_masked_and_revealed_one_at_a_time(world, browser, address):
    first, second = world.application.keys.get(), add_key(application=world.application)

    page = browser.get(address).content.decode()
    revealed = browser.get(f"{address}?reveal={second.pk}").content.decode()

    assert value_of(first) not in page
    assert (value_of(first) in revealed, value_of(second) in revealed) == (False, True)


def test_new_key_is_shown_in_full(world, browser, address):
    response = browser.post(address, {})

    key = world.application.keys.order_by("-created").first()
    assert response["Location"] == f"{address}?reveal={key.pk}"
    assert value_of(key) in browser.get(response["Location"]).content.decode()


def test_dates_are_read_and_shown_in_the_users_time_zone(world, browser, address):
    world.user.time_zone = "America/Denver"
    world.user.save()

    browser.post(address, {"start_date": "2030-01-05T08:00", "end_date": "2030-02-05T08:00"})

    key = world.application.keys.order_by("-created").first()
    assert key.start_date.isoformat() == "2030-01-05T15:00:00+00:00"
    assert "5 Jan 2030, 08:00 to 5 Feb 2030, 08:00" in browser.get(address).content.decode()


def test_dates_in_the_wrong_order_are_refused_at_the_field(world, browser, address):
    response = browser.post(address, {"start_date": "2030-02-05T08:00", "end_date": "2030-01-05T08:00"})

    assert "end_date" in response.context["form"].errors
    assert world.application.keys.count() == 1


@pytest.mark.parametrize(
    ("zone", "name", "date"),
    [("America/Denver", "end_date", "9999-12-31T23:59"), ("Asia/Tokyo", "start_date", "0001-01-01T00:00")],
)
def test_date_that_has_no_year_in_utc_is_refused_at_the_field(
    world, browser, client, address, zone, name, date
):
    """Python cannot read it from the database: the audit log would show nothing but an error."""
    world.user.time_zone = zone
    world.user.save()

    response = browser.post(address, {name: date})

    assert response.context["form"].errors == {name: ["Enter a valid date/time."]}
    assert browser.get(address).status_code == 200
    client.force_login(world.operator)
    assert client.get("/admin/audit/").status_code == 200


def test_changing_one_date_keeps_the_seconds_of_the_other(world, browser, address):
    key = world.application.keys.get()
    form = browser.get(f"{address}/{key.pk}/dates").context["form"]
    shown_start = form["start_date"].value()

    browser.post(
        f"{address}/{key.pk}/dates",
        {
            "start_date": shown_start.strftime("%Y-%m-%dT%H:%M"),
            "end_date": "2040-01-01T00:00",
        },
    )

    changed = world.application.keys.get()
    assert changed.end_date.isoformat() == "2040-01-01T00:00:00+00:00"
    assert changed.start_date == key.start_date


def test_regenerating_is_confirmed_and_shows_the_new_key(world, browser, address):
    key = world.application.keys.get()
    assert "stops working at once" in browser.get(f"{address}/{key.pk}/regenerate").content.decode()
    assert world.application.keys.get() == key

    response = browser.post(f"{address}/{key.pk}/regenerate")

    new = world.application.keys.get()
    assert new.pk != key.pk
    assert response["Location"] == f"{address}?reveal={new.pk}"
    assert browser.post(f"{address}/{key.pk}/regenerate").status_code == 404


def test_ended_key_cannot_be_regenerated(world, browser, address):
    now = timezone.now()
    key = add_key(
        application=world.application, start_date=now - timedelta(days=2), end_date=now - timedelta(days=1)
    )

    response = browser.post(f"{address}/{key.pk}/regenerate", follow=True)

    assert "The key has ended" in response.content.decode()


def test_key_ends_now(world, browser, address):
    key = world.application.keys.get()
    assert "from now on" in browser.get(f"{address}/{key.pk}/end").content.decode()

    browser.post(f"{address}/{key.pk}/end")

    assert world.application.keys.get().end_date <= timezone.now()
    assert "Ended" in browser.get(address).content.decode()


def test_keys_of_another_application_are_not_found(world, browser, address):
    foreign = world.other_application.keys.get()

    for part in ("dates", "regenerate", "end"):
        assert browser.post(f"{address}/{foreign.pk}/{part}").status_code == 404
    assert value_of(foreign) not in browser.get(f"{address}?reveal={foreign.pk}").content.decode()


def test_subscription_key_of_the_application(world, browser, address):
    before = subscription_keys(world.application.subscription)
    assert before["primary"] not in browser.get(address).content.decode()
    assert before["primary"] in browser.get(f"{address}?reveal=subscription").content.decode()

    browser.post(f"/applications/{world.application.pk}/subscription/primary/regenerate")

    after = subscription_keys(world.application.subscription)
    assert (after["primary"] == before["primary"], after["secondary"] == before["secondary"]) == (False, True)
