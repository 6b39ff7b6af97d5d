import re

import pytest
from django.core import mail
from django.test import Client

from accounts.models import EmailChange
from accounts.services.mailed_links import RESET_TASK
from tests.support.servers.queued_jobs import work_off

NEW = {"email": "new@print.example"}


def link_sent() -> str:
    return re.search(r"http://127.0.0.1:8000(/accounts/email/\S+/)", mail.outbox[0].body)[1]


def test_banner_is_put_away_until_the_next_sign_in_and_never_over_the_reference(world, client):
    world.user.email_confirmed = None
    world.user.save()
    banner = "open the link in our mail"
    for signed_in_again in range(2):
        client.force_login(world.user)
        assert banner in client.get("/applications").content.decode(), signed_in_again
        assert banner not in client.get("/api/v1/docs").content.decode()
        headers = {"Referer": "http://testserver/applications"}
        assert client.post("/profile/email/later", headers=headers)["Location"].endswith("/applications")
        assert banner not in client.get("/applications").content.decode()
        assert "Not confirmed" in client.get("/profile").content.decode()
        client.logout()


def test_address_changes_by_the_link_without_a_sign_in(world, browser):
    assert browser.post("/profile/email", NEW)["Location"] == "/profile/email"
    assert "new@print.example is not confirmed yet" in browser.get("/profile/email").content.decode()
    anonymous = Client()

    page = anonymous.get(link_sent()).content.decode()
    world.user.refresh_from_db()
    assert ("new@print.example" in page, world.user.email) == (True, "user@print.example")
    assert "<h1>E&#8209;mail address changed</h1>" in anonymous.post(link_sent()).content.decode()

    world.user.refresh_from_db()
    assert world.user.email == "new@print.example"
    assert anonymous.post(link_sent()).status_code == 404
    assert "no longer works" in anonymous.get(link_sent()).content.decode()


@pytest.mark.parametrize("address", ["", "nonsense", "user@print.example"])
def test_wrong_address_is_reported_at_its_field(world, browser, address):
    response = browser.post("/profile/email", {**NEW, "email": address})

    assert list(response.context["form"].errors) == ["email"]


def test_change_is_cancelled(world, browser):
    browser.post("/profile/email", NEW)

    browser.post("/profile/email/cancel")

    assert not EmailChange.objects.exists()
    assert Client().get(link_sent()).status_code == 404


def test_password_reset_link_dies_with_the_old_address(world, browser, client):
    client.post("/accounts/password-reset/", {"email": "user@print.example"})
    work_off(RESET_TASK)
    reset = re.search(r"http://127.0.0.1:8000(\S+)", mail.outbox.pop().body)[1]
    browser.post("/profile/email", NEW)
    client.post(link_sent())

    assert "no longer works" in client.get(reset, follow=True).content.decode()
