import re

from django.core import mail

from accounts.models import User
from accounts.services.mailed_links import RESET_TASK
from tests.support.scenario import PASSWORD, confirm_password
from tests.support.servers.queued_jobs import work_off

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
    response = client.post("/accounts/password-reset/", {"email": "user@print.example"}, follow=True)
    unknown = client.post("/accounts/password-reset/", {"email": "nobody@print.example"}, follow=True)

    assert response.content == unknown.content
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


def test_password_of_the_signed_in_user_is_required(world, stolen):
    User.objects.create(tenant=world.tenant, username="user@print.example", email="twin@far.example")
    User.objects.create(tenant=world.tenant, username="u\u017fer", email="twin@far.example")

    confirm_password(stolen)


def test_change_needs_the_old_password_keeps_this_session_and_ends_the_confirmation(world, stolen):
    values = {"new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    assert "Confirm that it is you" in stolen.post("/accounts/password-change/", values).content.decode()
    world.user.refresh_from_db()
    assert world.user.check_password(PASSWORD)

    response = confirm_password(stolen).post("/accounts/password-change/", values)

    assert response["Location"] == "/profile"
    assert stolen.get("/profile").status_code == 200
    world.user.refresh_from_db()
    assert world.user.check_password(NEW_PASSWORD)
    assert "Confirm that it is you" in stolen.get("/profile/keys?reveal").content.decode()
