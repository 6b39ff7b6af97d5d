"""Confirming one's own address, as a person does it: sign up, read the mail, press the button."""

import re

import pytest
from django.core import mail
from playwright.sync_api import expect

from accounts.models import User
from accounts.services.mailed_links import CONFIRMATION_TASK, RESET_TASK
from tests.support.browser.browser_sessions import in_database
from tests.support.scenario import PASSWORD
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.slow

BANNER = "open the link in our mail"


def sign_up(visitor, name: str = "newcomer") -> None:
    visitor.go("/accounts/signup/")
    values = {"username": name, "email": "new@mail.example"}
    for field, value in {**values, "password": PASSWORD}.items():
        visitor.page.fill(f"#id_{field}", value)
    visitor.page.click("main button[type=submit]")


def link_in_mail() -> str:
    [message] = mail.outbox
    mail.outbox.clear()
    return re.search(r"https?://\S+", message.body)[0]


def test_new_person_confirms_the_address_and_the_banner_disappears(visitor, settings):
    settings.SIGN_UP_ENABLED = True
    page = visitor.page
    sign_up(visitor)
    expect(page.get_by_text(BANNER)).to_be_visible()
    in_database(work_off, CONFIRMATION_TASK)

    page.goto(link_in_mail())
    # To open the link does nothing yet: programs that look through mail do so.
    assert in_database(User.objects.get, username="newcomer").email_confirmed is None
    page.get_by_role("button", name="Confirm", exact=True).click()

    expect(page.get_by_role("heading", name="is confirmed")).to_be_visible()
    expect(page.get_by_text(BANNER)).to_have_count(0)
    visitor.go("/profile")
    expect(page.get_by_text(BANNER)).to_have_count(0)
    assert visitor.complaints == []


def test_link_on_the_page_of_development_mails_confirms_the_address(visitor, settings, tmp_path):
    settings.SIGN_UP_ENABLED = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = tmp_path
    page = visitor.page
    sign_up(visitor)
    in_database(work_off, CONFIRMATION_TASK)
    visitor.go("/dev/mail")

    page.get_by_role("link", name="/accounts/email/confirm/").click()
    page.get_by_role("button", name="Confirm", exact=True).click()

    expect(page.get_by_role("heading", name="is confirmed")).to_be_visible()
    assert in_database(User.objects.get, username="newcomer").email_confirmed
    assert visitor.complaints == []


def test_link_is_sent_again_until_the_address_had_enough(visitor, settings):
    settings.SIGN_UP_ENABLED, settings.MAILS_PER_HOUR = True, 2
    page = visitor.page
    sign_up(visitor)
    again = page.get_by_role("button", name="Send it again")

    again.click()
    expect(
        page.get_by_text("We send a link to new@mail.example. The limit is 2 mails an hour and 10 a day.")
    ).to_be_visible()
    assert in_database(work_off, CONFIRMATION_TASK) == 2
    again.click()

    expect(page.get_by_text("We send a link to new@mail.example")).to_be_visible()
    assert in_database(work_off, CONFIRMATION_TASK) == 0


def test_confirmed_address_signs_in_and_has_a_new_password_mailed(visitor):
    page = visitor.page
    visitor.go("/accounts/login/")
    visitor.sign_in("user@print.example".upper())
    visitor.go("/profile")
    assert visitor.world.user.email in page.content()
    page.context.clear_cookies()

    visitor.go("/accounts/password-reset/")
    page.fill("#id_email", "user@print.example")
    page.click("main button[type=submit]")
    assert in_database(work_off, RESET_TASK) == 1
    page.goto(link_in_mail())
    expect(page.get_by_label("New password", exact=True)).to_be_visible()


def test_mail_address_of_two_accounts_is_refused_like_a_wrong_name(visitor):
    people = User.objects.filter(username__in=["user", "outsider"])
    in_database(people.update, email="shared@mail.example")
    said = []
    for name in ("shared@mail.example", "nobody@mail.example"):
        visitor.go("/accounts/login/")
        visitor.sign_in(name)
        said.append(visitor.page.get_by_role("alert").first.inner_text())

    assert "only if it is confirmed" in said[0]
    assert said[0] == said[1]


def test_unconfirmed_owner_must_confirm_before_inviting_people(visitor):
    in_database(User.objects.update, email_confirmed=None)
    page = visitor.page
    visitor.go(f"/applications/{visitor.world.application.pk}/owners")
    visitor.sign_in()

    page.fill("#id_email", "friend@mail.example")
    page.get_by_role("button", name=re.compile("invit", re.IGNORECASE)).click()

    expect(page.get_by_text("Confirm your own e-mail address first")).to_be_visible()
    assert mail.outbox == []
