"""Every page of the portal in a real browser: nothing complains, nothing overflows, axe finds nothing.

What is examined is held against every address and every template there is: a page that is added later and is not
reached from here fails `test_every_page_signed_out_and_as_a_user`.
"""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.core import mail
from django.core.exceptions import BadRequest
from django.db import OperationalError
from django.test.signals import template_rendered
from django.urls import Resolver404, resolve, reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import expect

from accounts.callers import Caller
from accounts.services.associations import request_association
from accounts.services.mailed_links import confirmation_token
from applications.registration.services.applications import create_application
from applications.registration.services.owners import invite_owner
from applications.webhooks.models import Delivery
from fulfillment.core.errors import Unavailable
from stores.batches.models import Batch
from tests.factories.accounts import UserFactory
from tests.factories.eddm import make_selection
from tests.factories.orders import make_product, order_body
from tests.support.accounts.two_factor import code_of
from tests.support.batches.batches import access_to, make_batch
from tests.support.browser.crawler import is_page, kind_of
from tests.support.browser.page_fixtures import furnish
from tests.support.browser.portal_pages import ACTS_AT_ONCE, NO_PAGE, names_of_addresses, templates_of_pages
from tests.support.browser.visual_checks import (
    IS_EVERY_LOOK,
    LOOKS,
    OTHER_LOOKS,
    SEND_EMPTY,
    Look,
    faults_of,
    opened,
)
from tests.support.scenario import PASSWORD

pytestmark = pytest.mark.slow

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
# By `test_artwork.py`, which uploads a PDF first.
# The second one is the answer to a script.
SEEN_ELSEWHERE = {"stores/product_pages/artwork_pages.html", "stores/batches/saved_row.html"}
ONCE: list[Look] = [(390, "dark")]
# Of the page itself: after a confirmation each page begins with the form that ends it.
FORM = "main form[method=post]:not(.confirmed)"


class Round:
    """What was seen on the way through the pages: faults, addresses, templates."""

    def __init__(self, visitor) -> None:
        self.visitor, self.page = visitor, visitor.page
        self.faults: list[str] = []
        self.addresses: set[str] = set()
        self.templates: set[str] = set()
        self._rendered: set[str] = set()

    def note(self, template, **more) -> None:
        self._rendered.add(template.name)

    def see(
        self, path: str, sent: Mapping[str, str] | None = None, *, name: str = "", status=200, looks=LOOKS
    ) -> None:
        """Loads a page for each look."""
        self._rendered.clear()

        def open_it() -> int:
            return opened(self.visitor, path, sent)

        self.faults += faults_of(self.visitor, name or path, open_it, status=status, looks=looks)
        self._keep()

    def see_open(self, name: str, *, status=200, looks=LOOKS) -> None:
        """The page that is open: it would be another one if it were loaded again."""
        self.faults += faults_of(self.visitor, name, status=status, looks=looks)
        self._keep()

    def forget(self) -> None:
        """What was rendered for a page that was only passed by is not seen."""
        self._rendered.clear()

    def send(self, button: str = f"{FORM} button[type=submit]") -> None:
        self.forget()
        with self.page.expect_navigation():
            self.page.click(button)

    def send_empty(self, path: str) -> None:
        """A form whose every field is refused."""
        self.visitor.go(path)
        self.forget()
        with self.page.expect_navigation():
            self.page.locator(FORM).first.evaluate(SEND_EMPTY)
        expect(self.page.locator("main [aria-invalid=true]")).not_to_have_count(0)
        self.see_open(f"{path} refused", looks=ONCE)

    def crawl(self, starts: list[str], looks=LOOKS) -> int:
        """One example of each kind of page, from links and fragments alike; how many there were."""
        waiting, known = list(starts), set()
        while waiting:
            path = waiting.pop(0)
            kind = kind_of(path)
            if kind in known or path.startswith("/admin") or not is_page(path):
                continue
            known.add(kind)
            self.see(path, looks=looks)
            links = self.page.eval_on_selector_all("a[href]", "links => links.map(link => link.href)")
            ours = sorted({urlsplit(link) for link in links if link.startswith(self.visitor.address)})
            waiting += [link.path + (f"?{link.query}" if link.query else "") for link in ours]
        return len(known)

    def _keep(self) -> None:
        self.templates |= self._rendered
        try:
            self.addresses.add(resolve(urlsplit(self.page.url).path).view_name)
        except Resolver404:
            self.addresses.add("")


@pytest.fixture
def site(site, settings):
    settings.SIGN_UP_ENABLED = True
    settings.DEFAULT_TENANT_DOMAIN = "print.example"
    address, world = site
    furnish(world)
    delivery = Delivery.objects.filter(state="Failed").get()
    own = f"/applications/{world.application.pk}"
    world.delivery_page = f"{own}/webhooks/{delivery.webhook_id}/deliveries/{delivery.event.event_id}"
    world.eddm_page = f"{own}/orders/{_eddm_order(world)}"
    own_order = order_body(Items=[{"ProductID": "mailer", "Quantity": 200}])
    assert world.as_user(world.user).call("POST", "/store/associated/order", own_order).status_code == 201
    world.batch_page = f"/batches/{Batch.objects.get().pk}"
    empty = make_batch(access_to(world, "demo"), product_id="business-card")
    world.empty_batch_page = f"/batches/{empty.pk}"
    inviter = Caller.on_pages(world.outsider)
    invite_owner(caller=inviter, application=world.other_application, email="second@far.example")
    trial = create_application(caller=inviter, values={"Name": "Trial Studio", "IsTest": True})
    joiner = Caller.on_pages(world.user)
    request_association(caller=joiner, application=trial, user_id=world.user.pk, message="Let me try it")
    UserFactory(username="newcomer", tenant=world.tenant, email_confirmed=None)
    return address, world


def _eddm_order(world) -> str:
    make_product(world.associated, "mailer", IsEddm=True, DefaultQty=200, MaximumQty=25_000)
    selection = make_selection(application=world.application)
    items = [{"ProductID": "mailer", "EddmSelectionID": str(selection.pk)}]
    response = world.as_application().call("POST", "/store/associated/order", order_body() | {"Items": items})
    assert response.status_code == 201, response.json()
    return response.json()["OrderID"]


@pytest.fixture
def round_trip(visitor) -> Iterator[Round]:
    going = Round(visitor)
    template_rendered.connect(going.note)
    yield going
    template_rendered.disconnect(going.note)


@pytest.fixture
def reset_link(site) -> str:
    """Made before the browser runs: its loop keeps the database to itself."""
    user = site[1].outsider
    known_as = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("password_reset_confirm", args=[known_as, default_token_generator.make_token(user)])


def test_every_page_signed_out_and_as_a_user(reset_link, round_trip, settings, monkeypatch):
    world = round_trip.visitor.world
    _as_a_stranger(round_trip, reset_link)
    _what_went_wrong(round_trip, settings, monkeypatch)
    _by_signing_in(round_trip)
    _as_a_user(round_trip, world)
    _secrets(round_trip)
    _with_a_second_step(round_trip)
    _with_an_unconfirmed_address(round_trip)

    assert round_trip.faults == []
    missing = names_of_addresses() - round_trip.addresses
    assert missing == NO_PAGE.keys() | ACTS_AT_ONCE.keys() - {"portal:invitation-decline"}
    assert templates_of_pages() - round_trip.templates == SEEN_ELSEWHERE


def _letters(kind: str) -> list[str]:
    found = [re.search(rf"/{kind}/\S+", letter.body) for letter in mail.outbox]
    return [link[0] for link in found if link]


def _as_a_stranger(going: Round, reset_link: str) -> None:
    (email,), (invitation, second) = _letters("accounts/email"), _letters("invitations")
    going.crawl(
        ["/", "/accounts/login/", "/accounts/signup/", "/accounts/password-reset/sent/", email, invitation]
    )
    going.forget()
    going.visitor.go(second)
    going.send("main form button[type=submit]:has-text('Decline')")
    going.see_open("invitation declined")
    going.see("/invitations/old", status=404)
    going.visitor.go(email)
    going.send()
    going.see_open("email confirmed")
    going.see("/accounts/email/old/", status=404, looks=ONCE)
    token = confirmation_token(going.visitor.world.outsider)
    going.see(f"/accounts/email/confirm/{token}/", name="own address confirmed")
    going.see("/accounts/email/confirm/old/", status=404, looks=ONCE)
    going.see(reset_link, name="reset link")
    for field in ("id_new_password1", "id_new_password2"):
        going.page.fill(f"#{field}", "another long pass phrase")
    going.send()
    going.see_open("password saved")
    going.see(reset_link, name="reset link used", looks=ONCE)
    going.send_empty("/accounts/signup/")
    for page in (
        "",
        "/operations/order_create",
        "/events",
        "/events/order.shipped",
        "/guides/errors",
        "/errors/quote_expired",
        "/search?q=order",
    ):
        going.see(f"/api/v1/docs{page}")


def _what_went_wrong(going: Round, settings, monkeypatch) -> None:
    """As easy to read as what went right."""
    going.see("/nothing", status=404)
    going.see("/oauth/authorize?client_id=nobody", status=400)
    going.see("/accounts/login/?next=%2Fadmin%2F", looks=ONCE)
    usual, settings.SIGN_IN_TRIES_PER_ACCOUNT = settings.SIGN_IN_TRIES_PER_ACCOUNT, 1
    for _ in range(2):
        going.visitor.go("/accounts/login/")
        going.page.fill("#id_username", "outsider")
        going.page.fill("#id_password", "wrong")
        going.send()
    going.see_open("too many tries", status=429)
    settings.SIGN_IN_TRIES_PER_ACCOUNT = usual
    going.visitor.go("/accounts/login/")
    going.page.fill("#id_username", "user")
    going.page.fill("#id_password", PASSWORD)
    going.page.evaluate("document.querySelector('main [name=csrfmiddlewaretoken]').value = ''")
    going.send()
    going.see_open("form too old", status=403)
    failures = (OperationalError("gone"), 503), (RuntimeError("bug"), 500), (BadRequest(), 400)
    for error, status in (*failures, (Unavailable("Try again in a moment."), 503)):
        with monkeypatch.context() as patch:
            patch.setattr("fulfillment.site.pages.render", _failing(error))
            going.see("/guide", name=f"guide {status}", status=status)


def _failing(error: Exception):
    def fail(*args, **kwargs):
        raise error

    return fail


def _by_signing_in(going: Round) -> None:
    """The page between the sign-in and an application, held while it is looked at."""
    page = going.page
    page.route("**/oauth/authorize?client_id=held*", lambda route: route.fulfill(status=204))
    going.visitor.go("/accounts/login/?next=/oauth/authorize%3Fclient_id%3Dheld")
    page.fill("#id_username", "user")
    page.fill("#id_password", PASSWORD)
    going.send()
    expect(page.get_by_role("heading", level=1)).to_have_text("You are signed in")
    going.see_open("sign-in goes on")
    page.unroute("**/oauth/authorize?client_id=held*")


def _as_a_user(going: Round, world) -> None:
    consent = (
        f"/oauth/authorize?response_type=code&client_id={world.application.client_id}"
        f"&code_challenge={CHALLENGE}&code_challenge_method=S256&redirect_uri=https://mailstudio.example/callback"
    )
    invitation = _letters("invitations")[0]
    starts = [
        "/",
        "/dev/mail",
        "/accounts/password-change/",
        "/catalog/demo/business-card",
        "/send/store_read",
    ]
    starts += [consent, invitation, world.delivery_page, world.eddm_page, world.batch_page]
    # Where a form leads, not a link.
    starts.append(f"{world.batch_page}/order")
    assert going.crawl(starts) > 25
    going.see(world.empty_batch_page)
    going.see(f"/applications/{world.other_application.pk}", name="other application", status=403)
    for path in ("/applications", "/profile/roles"):
        going.see(f"{path}?q=nothing-like-it", name=f"{path} nothing found", looks=ONCE)
    going.send_empty("/applications/new")


def _secrets(going: Round) -> None:
    page = going.page
    going.visitor.go("/profile/keys")
    going.visitor.end_confirmation()
    page.get_by_role("link", name="Show the keys").click()
    going.see_open("question for the password")
    going.visitor.confirm_password()
    expect(page.locator("#primary")).to_be_visible()
    going.see_open("keys shown")
    page.get_by_role("link", name="Regenerate the primary key").click()
    going.see_open("regenerate a key")
    own = f"/applications/{going.visitor.world.application.pk}"
    going.visitor.go(f"{own}/webhooks/new")
    page.fill("#id_url", "https://hooks.example/in")
    going.send("main form button:has-text('Add webhook')")
    expect(page.locator("#secret")).to_be_visible()
    going.see_open("webhook secret shown")
    going.see("/accounts/password-change/")
    going.send_empty("/profile/email")


def _with_a_second_step(going: Round) -> None:
    """The recovery codes, shown once, and the question at the sign-in."""
    page = going.page
    going.visitor.go("/profile/two-factor/set-up")
    going.see_open("set-up of the second step")
    page.fill("#id_code", code_of(page.locator("main code").first.inner_text().replace(" ", "")))
    going.send()
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    going.see_open("recovery codes")
    going.see("/profile/two-factor")
    going.see("/profile/two-factor/codes")
    going.see("/profile/two-factor/off", looks=ONCE)

    page.context.clear_cookies()
    going.visitor.go("/accounts/login/")
    going.visitor.sign_in()
    page.wait_for_url("**/accounts/second-step/")
    going.see_open("second step")
    page.fill("#id_code", "000000")
    going.send()
    expect(page.locator("main [aria-invalid=true]")).not_to_have_count(0)
    going.see_open("second step refused", looks=ONCE)


def _with_an_unconfirmed_address(going: Round) -> None:
    going.page.context.clear_cookies()
    going.visitor.go("/accounts/login/")
    going.visitor.sign_in("newcomer")
    going.page.wait_for_url(f"{going.visitor.address}/")
    going.see("/profile")


def test_pages_of_an_operator(round_trip):
    """The same templates with more in them: every application, and the ways to the console. `make looks` follows each
    link from there."""
    round_trip.visitor.go("/accounts/login/")
    round_trip.visitor.sign_in("operator")
    own = f"/applications/{round_trip.visitor.world.application.pk}"

    if IS_EVERY_LOOK:
        assert round_trip.crawl(["/", own], looks=OTHER_LOOKS) > 25
    else:
        for path in ("/", "/applications", own):
            round_trip.see(path, looks=OTHER_LOOKS)

    assert round_trip.faults == []
