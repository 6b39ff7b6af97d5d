import re

import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import User
from accounts.services.passwords import RESET_TASK
from tests.support.jobs import work_off
from tests.support.scenario import PASSWORD

NEW_PASSWORD = "another long pass phrase"


def test_reset_finds_the_user_in_any_case_and_links_to_the_public_address(world, client, settings):
    settings.PUBLIC_URL = "https://print.example"

    response = client.post(
        "/accounts/password-reset/", {"email": "USER@Print.Example"}, headers={"host": "localhost"}
    )

    assert response["Location"] == "/accounts/password-reset/sent/"
    assert mail.outbox == []
    work_off(RESET_TASK)
    (message,) = mail.outbox
    assert message.to == ["user@print.example"]
    assert "user@print.example" in message.body
    assert re.search(r"https://print\.example/accounts/password-reset/\S+/\S+/", message.body)
    assert "localhost" not in message.body


def test_reset_answers_unknown_addresses_the_same(world, client):
    known = client.post("/accounts/password-reset/", {"email": "user@print.example"}, follow=True)
    unknown = client.post("/accounts/password-reset/", {"email": "nobody@print.example"}, follow=True)

    assert known.content == unknown.content
    assert work_off(RESET_TASK) == 2
    assert len(mail.outbox) == 1


def test_link_sets_the_password_once(world, client):
    client.post("/accounts/password-reset/", {"email": "user@print.example"})
    work_off(RESET_TASK)
    link = re.search(r"/accounts/password-reset/\S+", mail.outbox[0].body)[0]

    form_address = client.get(link)["Location"]
    assert "user@print.example" in client.get(form_address).content.decode()
    response = client.post(form_address, {"new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD})

    assert response["Location"] == "/accounts/password-reset/saved/"
    assert client.get(response["Location"]).status_code == 200
    world.user.refresh_from_db()
    assert world.user.check_password(NEW_PASSWORD)
    assert "no longer works" in client.get(link).content.decode()


def test_old_password_cannot_be_guessed_without_end(world, browser, settings):
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 3
    sent = {"new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    for _ in range(3):
        answer = browser.post("/accounts/password-change/", {**sent, "old_password": "wrong"})
        assert answer.context["form"].errors["old_password"] == ["This is not your password."]

    answer = browser.post("/accounts/password-change/", {**sent, "old_password": PASSWORD})

    assert "Too many attempts. Try again in 15 minutes." in answer.context["form"].errors["old_password"]
    world.user.refresh_from_db()
    assert world.user.check_password(PASSWORD)


# Every form of a session that asks for the password, with what else it wants.
ASKING = {
    "/accounts/password-change/": {
        "name": "old_password",
        "new_password1": NEW_PASSWORD,
        "new_password2": NEW_PASSWORD,
    },
    "/profile/keys": {},
    "/profile/keys/primary/regenerate": {"confirming": "1"},
    "/profile/email": {"email": "new@far.example"},
    "/profile/two-factor/set-up": {"confirming": "1"},
    "/profile/two-factor/off": {},
    "/profile/two-factor/codes": {},
    "/applications/{application}/keys": {},
    "/applications/{application}/keys?reveal=subscription": {"confirming": "1"},
    "/applications/{application}/keys/{key}/regenerate": {"confirming": "1"},
    "/applications/{application}/subscription/primary/regenerate": {"confirming": "1"},
    "/applications/{application}/try?fill": {"confirming": "1"},
}


@pytest.mark.parametrize("address", ASKING)
def test_every_password_form_shares_the_attempts_of_the_account(world, signed_in, settings, address):
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 2
    if address.endswith("/codes"):
        User.objects.filter(pk=world.user.pk).update(two_factor_since=timezone.now())
        world.user.refresh_from_db()
    browser = signed_in(world.user)
    for _ in range(2):
        browser.post("/profile/keys", {"password": "wrong"})
    place = address.format(application=world.application.pk, key=world.application.keys.get().pk)
    sent = dict(ASKING[address])

    answer = browser.post(place, {sent.pop("name", "password"): PASSWORD, **sent})

    assert answer.status_code == 200
    assert "Too many attempts. Try again in 15 minutes." in answer.content.decode()


def test_password_of_the_signed_in_user_is_required(world, browser):
    User.objects.create(tenant=world.tenant, username="user@print.example", email="twin@far.example")
    User.objects.create(tenant=world.tenant, username="u\u017fer", email="twin@far.example")

    assert browser.post("/profile/keys", {"password": PASSWORD}).status_code == 302


def test_change_needs_the_old_password_and_keeps_this_session(world, browser):
    wrong = {"old_password": "wrong", "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    assert "old_password" in browser.post("/accounts/password-change/", wrong).context["form"].errors

    response = browser.post("/accounts/password-change/", {**wrong, "old_password": PASSWORD})

    assert response["Location"] == "/profile"
    assert browser.get("/profile").status_code == 200
    world.user.refresh_from_db()
    assert world.user.check_password(NEW_PASSWORD)
