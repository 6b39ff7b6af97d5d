"""What happens in the console to tokens and sessions of people, and to blocked applications."""

from django.test import Client
from django.urls import reverse

from accounts.models import User
from tests.support.scenario import sign_in


def save(world, record=None, **values):
    """Sends the form of the user, or of a record, as it is shown, with these values changed; None for a box not
    ticked."""
    operator, record = Client(), record or world.user
    sign_in(operator, world.operator)
    address = reverse(f"admin:{record._meta.label_lower.replace('.', '_')}_change", args=[record.pk])
    page = operator.get(address)
    forms = [page.context["adminform"].form]
    for inline in page.context["inline_admin_formsets"]:
        forms += [inline.formset.management_form, *inline.formset.forms]
    shown = {field.html_name: field.value() for form in forms for field in form}
    sent = {name: value for name, value in {**shown, **values}.items() if value not in {None, False}}
    return operator.post(address, sent)


def test_tokens_of_a_deactivated_user_stay_invalid_after_reactivation(world):
    client = world.as_user(world.user)
    assert client.call("GET", "/user/self").status_code == 200

    assert save(world, is_active=None).status_code == 302
    assert client.call("GET", "/user/self").status_code == 401
    assert save(world, is_active="on").status_code == 302

    assert User.objects.get(pk=world.user.pk).is_active
    assert client.call("GET", "/user/self").status_code == 401


def test_sessions_of_a_deactivated_user_stay_ended_after_reactivation(world):
    browsers = {user: Client() for user in (world.user, world.outsider)}
    for user, browser in browsers.items():
        sign_in(browser, user)

    assert save(world, is_active=None).status_code == 302
    assert save(world, is_active="on").status_code == 302

    statuses = [browser.get("/profile").status_code for browser in browsers.values()]
    assert statuses == [302, 200]


def test_tokens_outlive_other_changes(world):
    client = world.as_user(world.user)

    assert save(world, first_name="Changed").status_code == 302

    assert User.objects.get(pk=world.user.pk).first_name == "Changed"
    assert client.call("GET", "/user/self").status_code == 200


def test_blocked_application_is_disabled_until_an_operator_lifts_the_block(world, client):
    application, address = world.application, f"/applications/{world.application.pk}/settings"
    sign_in(client, world.user)

    assert save(world, application, is_blocked="on").status_code == 302
    page = client.get(address).content.decode()
    client.post(address, {"name": "Still Mail Studio", "is_enabled": "on"})

    application.refresh_from_db()
    assert (application.name, application.is_enabled, application.is_blocked) == (
        "Still Mail Studio",
        False,
        True,
    )
    assert "An operator of the service blocked this application." in page
    assert save(world, application, is_blocked=None, is_enabled="on").status_code == 302
    assert world.as_application().call("GET", "/store").status_code == 200
    assert "blocked this application" not in client.get(address).content.decode()
