"""User names and passwords in forms: what is refused beside its field, and what asks for the password first."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.name_examples import REFUSED
from tests.support.scenario import PASSWORD

pytestmark = pytest.mark.slow

NEW_PASSWORD = "another long pass phrase"
# What a person can type or paste into the field; its length stops the others. All are in tests/accounts/test_names.py.
TYPED = [name for name in REFUSED if 0 < len(name) <= 64 and "\0" not in name]


def test_sign_up_says_beside_the_name_what_is_wrong_with_it(visitor):
    page = visitor.page
    visitor.go("/accounts/signup/")
    for name in [*TYPED[:3], "USER", "ｕｓｅｒ"]:
        page.fill("#id_email", "nora@far.example")
        page.fill("#id_username", name)
        page.fill("#id_password", PASSWORD)
        page.get_by_role("button", name="Create account").click()
        reported = page.locator("#id_username_error, .field:has(#id_username) .errorlist")
        expect(reported.first).to_contain_text(re.compile("cannot be a user name|already exists"))

    page.fill("#id_username", "Nóra")
    page.fill("#id_password", PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hello Nóra")
    visitor.go("/profile")
    expect(page.get_by_text("Nóra@print.example").first).to_be_visible()
    assert visitor.complaints == []


def test_keys_and_the_second_step_open_after_the_password_only(visitor):
    page, own = visitor.page, f"/applications/{visitor.world.application.pk}"
    visitor.go("/")
    page.context.clear_cookies()
    visitor.go("/accounts/login/")
    visitor.sign_in()
    visitor.end_confirmation()
    secret = re.compile("sf[ks]_[A-Za-z0-9_-]{20,}")
    for address in (
        "/profile/two-factor/set-up",
        "/profile/keys?reveal",
        "/accounts/password-change/",
        f"{own}/try?fill",
        f"{own}/keys?reveal=subscription",
    ):
        visitor.go(address)
        assert not secret.search(page.content())
        page.fill("#id_password", "wrong")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_text("This is not your password.")).to_be_visible()

    visitor.confirm_password()
    page.wait_for_url(re.compile(r"/keys\?reveal=subscription$"))
    assert secret.search(page.locator("#primary").inner_text())
    visitor.go("/profile/two-factor/set-up")
    expect(page.locator("main img")).to_be_visible()
    assert visitor.complaints == []


def test_key_is_added_as_typed_once_the_password_is_right(visitor):
    page = visitor.page
    visitor.go(f"/applications/{visitor.world.application.pk}/keys")
    visitor.sign_in()
    visitor.end_confirmation()
    page.fill("#id_start_date", "2031-01-05T08:00")
    page.fill("#id_end_date", "2031-02-05T08:00")
    page.get_by_role("button", name="Add key").click()
    page.fill("#id_password", "wrong")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("This is not your password.")).to_be_visible()

    visitor.confirm_password()
    expect(page.locator("#key")).to_have_text(re.compile("^sfk_"))
    expect(page.get_by_text(re.compile("Jan 5, 2031|5 Jan 2031"))).to_be_visible()
    page.get_by_role("button", name="End now").click()
    expect(page.get_by_text("Confirmed until")).to_have_count(0)
    assert visitor.complaints == []


def test_password_is_guessed_at_most_as_often_as_at_a_sign_in(visitor, settings):
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 2
    page = visitor.page
    visitor.go("/")
    visitor.go("/accounts/login/")
    visitor.sign_in()
    visitor.end_confirmation()
    visitor.go("/accounts/password-change/")
    for typed in ("wrong", "wrong too", PASSWORD):
        page.fill("#id_password", typed)
        page.get_by_role("button", name="Continue").click()

    expect(page.get_by_text("Too many attempts. Try again in 15 minutes.")).to_be_visible()
    assert visitor.complaints == []


def test_operator_cannot_give_a_name_that_is_taken(visitor):
    page, user = visitor.page, visitor.world.user
    visitor.go(f"/admin/accounts/user/{user.pk}/change/")
    visitor.sign_in("operator")
    for name, said in (("ＯＵＴＳＩＤＥＲ", "already exists"), ("a@b", "cannot be a user name")):
        page.fill("#id_username", name)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text(said).first).to_be_visible()

    page.fill("#id_username", "Zoë")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert visitor.complaints == []
