"""Every page of the portal in a real browser: nothing complains, nothing overflows, axe finds nothing."""

import re
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.core import mail
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import expect

from tests.browser.axe import LOOKS, violations
from tests.furnishing import furnish
from tests.pages.test_two_factor import code_of
from tests.walk import NOT_PAGES, kind_of
from tests.world import PASSWORD

OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@pytest.fixture
def site(site):
    return site[0], furnish(site[1])


def examine(visitor, path: str, looks=LOOKS) -> list[str]:
    """What is wrong with the page that is open, at each width and in each scheme."""
    page, found = visitor.page, []
    for width, scheme, colours_only in looks:
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if (too_wide := page.evaluate(OVERFLOW)) > 0:
            found.append(f"{path} at {width}: {too_wide} pixels too wide")
        found += [
            f"{path} at {width}, {scheme}: {one['id']}: {one['where']}"
            for one in violations(page, colours_only=colours_only)
        ]
    return found + [f"{path}: {said}" for said in visitor.complaints]


def crawl(visitor, starts: list[str], looks=LOOKS) -> tuple[int, list[str]]:
    """One example of each kind of page, from links and fragments alike; how many, and what is wrong."""
    waiting, known, wrong = list(starts), set(), []
    while waiting:
        path = waiting.pop(0)
        kind = kind_of(path)
        if kind in known or path.startswith((*NOT_PAGES, "/admin")):
            continue
        known.add(kind)
        if (status := visitor.go(path)) != 200:
            wrong.append(f"{path} answered {status}")
        wrong += examine(visitor, path, looks)
        visitor.complaints.clear()
        links = visitor.page.eval_on_selector_all("a[href]", "links => links.map(link => link.href)")
        ours = sorted({urlsplit(link) for link in links if link.startswith(visitor.address)})
        waiting += [link.path + (f"?{link.query}" if link.query else "") for link in ours]
    return len(known), wrong


def test_pages_of_a_user(visitor):
    consent = (
        f"/oauth/authorize?response_type=code&client_id={visitor.world.application.client_id}"
        f"&code_challenge={CHALLENGE}&code_challenge_method=S256&redirect_uri=https://mailstudio.example/callback"
    )
    invitation = re.search(r"/invitations/\S+", mail.outbox[0].body)[0]
    visitor.go("/accounts/login/")
    visitor.sign_in()

    number, wrong = crawl(visitor, ["/", "/accounts/password-change/", consent, invitation])

    assert wrong == []
    assert number > 25


def test_pages_of_an_operator(visitor):
    """The same templates with more in them: every application, and the ways to the console."""
    visitor.go("/accounts/login/")
    visitor.sign_in("operator")
    own = f"/applications/{visitor.world.application.pk}"

    number, wrong = crawl(visitor, ["/", own])

    assert wrong == []
    assert number > 25


def test_pages_of_a_stranger(visitor):
    starts = ["/", "/accounts/login/", "/accounts/signup/", "/accounts/password-reset/sent/"]
    starts += [re.search(r"/(invitations|accounts/email)/\S+", letter.body)[0] for letter in mail.outbox[:2]]

    number, wrong = crawl(visitor, starts)

    assert wrong == []
    assert number > 8


def test_pages_of_refusals(visitor):
    """What went wrong is as easy to read as what went right."""
    world, page = visitor.world, visitor.page
    wrong = []
    for path, status in (("/nothing", 404), ("/oauth/authorize?client_id=nobody", 400)):
        assert visitor.go(path) == status
        wrong += examine(visitor, path)
    visitor.go("/profile/email")
    visitor.sign_in()
    for path, status in ((f"/applications/{world.other_application.pk}", 403), ("/invitations/old", 404)):
        assert visitor.go(path) == status
        wrong += examine(visitor, path)
    for path, button in (("/applications/new", "Register"), ("/profile/email", "Send the link")):
        visitor.go(path)
        page.eval_on_selector_all("main form", "forms => forms.forEach((form) => (form.noValidate = true))")
        page.get_by_role("button", name=button).click()
        expect(page.locator("main [aria-invalid=true]")).not_to_have_count(0)
        wrong += examine(visitor, f"{path} refused")

    # The browser itself tells of every answer that is an error.
    assert [said for said in wrong if "Failed to load resource" not in said] == []


def test_pages_of_the_second_step(visitor):
    """The recovery codes, shown once, and the question at the sign-in."""
    page = visitor.page
    visitor.go("/accounts/login/?next=/profile/two-factor/set-up")
    visitor.sign_in()
    page.fill("#id_code", code_of(page.locator("main code").first.inner_text().replace(" ", "")))
    page.click("main form button[type=submit]")
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    wrong = examine(visitor, "recovery codes")

    page.context.clear_cookies()
    visitor.go("/accounts/login/")
    visitor.sign_in()
    page.wait_for_url("**/accounts/second-step/")
    wrong += examine(visitor, "second step")
    page.fill("#id_code", "000000")
    page.click("main form button[type=submit]")
    expect(page.locator("main [aria-invalid=true]")).not_to_have_count(0)
    wrong += examine(visitor, "second step refused")

    assert wrong == []


def test_the_page_of_a_valid_reset_link(visitor):
    user = visitor.world.user
    known_as = urlsafe_base64_encode(force_bytes(user.pk))
    link = reverse("password_reset_confirm", args=[known_as, default_token_generator.make_token(user)])

    assert visitor.go(link) == 200

    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Choose a new password")
    assert examine(visitor, "reset link") == []


def test_pages_that_show_a_secret(visitor):
    page = visitor.page
    visitor.go("/profile/keys")
    visitor.sign_in()
    page.fill("#id_password", PASSWORD)
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#primary")).to_be_visible()
    wrong = examine(visitor, "subscription keys shown")

    visitor.go(f"/applications/{visitor.world.application.pk}/webhooks")
    page.get_by_role("link", name="New webhook").click()
    page.fill("#id_url", "https://hooks.example/in")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#secret")).to_be_visible()
    wrong += examine(visitor, "webhook secret shown")

    assert wrong == []
