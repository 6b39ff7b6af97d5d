"""Every page of the console in a real browser, app by app: nothing complains, nothing overflows, axe finds nothing
serious. Which pages there are is read off the registry (tests/support/browser/console_pages.py); of pages of one
kind the suite looks at the first, and `test_console_pages.py` opens all of them without a browser."""

from collections.abc import Sequence

import pytest
from django.test import Client

from tests.support.browser.console_pages import ConsolePage, apps_of_console, pages_of, pages_of_site
from tests.support.browser.visual_checks import (
    IS_EVERY_LOOK,
    LOOKS,
    OTHER_LOOKS,
    SERIOUS,
    Look,
    faults_of,
    looks_at,
    opened,
)
from tests.support.scenario import sign_in

pytestmark = pytest.mark.slow


@pytest.fixture
def site(transactional_db, live_server, made_console, settings):
    settings.PUBLIC_URL = live_server.url
    return live_server.url, made_console.restore()


@pytest.fixture
def pages(request, site) -> list[ConsolePage]:
    """Read before the browser runs: its loop keeps the database to itself."""
    name, apps = request.param
    _, world = site
    person = getattr(world, name)
    found = [
        *(pages_of_site(person) if "accounts" in apps else []),
        *(page for app in apps for page in pages_of(app, world, person)),
    ]
    first = {page.kind: page for page in reversed(found)}
    return [page for page in found if IS_EVERY_LOOK or not page.kind or page is first[page.kind]]


@pytest.fixture
def sessions(site, settings) -> dict[str, dict[str, str]]:
    """Cookies of people who confirmed a dangerous action a moment ago: what they open is the page, not the question."""
    url, world = site
    name = settings.SESSION_COOKIE_NAME
    return {
        person: {
            "name": name,
            "value": sign_in(Client(), getattr(world, person)).cookies[name].value,
            "url": url,
        }
        for person in ("operator", "user")
    }


def go_in(visitor, session: dict[str, str]) -> None:
    visitor.page.context.add_cookies([session])
    visitor.go("/admin/")
    assert visitor.page.url == f"{visitor.address}/admin/"


def looks_of(number: int, page: ConsolePage, looks: Sequence[Look], *, is_known: bool) -> Sequence[Look]:
    """In turn, so that as many of those known are seen in either look."""
    return [looks[number % 2]] if is_known else looks_at(page.name, looks)


def looked_at(visitor, number: int, page: ConsolePage, looks, *, is_known: bool = False) -> list[str]:
    def open_it() -> int:
        return opened(visitor, page.path, page.sent)

    is_known = is_known or bool(page.kind)
    chosen = looks_of(number, page, looks, is_known=is_known)
    # What is around those known was seen already.
    within = "main" if is_known else ""
    found = faults_of(visitor, page.name, open_it, looks=chosen, impacts=SERIOUS, within=within)
    if page.name.endswith(" add refused"):
        assert visitor.page.locator("main .errorlist, main [aria-invalid=true]").count(), page
    return found


@pytest.mark.parametrize(
    "pages", [("operator", [app]) for app in apps_of_console()], indirect=True, ids=apps_of_console()
)
def test_pages_of_an_operator(pages, sessions, visitor):
    go_in(visitor, sessions["operator"])
    # All of one look first: to change it lays out the page that is open anew.
    in_order = sorted(enumerate(pages), key=lambda one: looks_of(*one, LOOKS, is_known=bool(one[1].kind)))

    assert [fault for one in in_order for fault in looked_at(visitor, *one, LOOKS)] == []


@pytest.mark.looks
@pytest.mark.parametrize("pages", [("user", apps_of_console())], indirect=True, ids=["with less in them"])
def test_pages_of_staff_of_a_store(pages, sessions, visitor):
    """The same templates as above."""
    go_in(visitor, sessions["user"])

    faults = looked_at(visitor, 0, pages[0], OTHER_LOOKS)
    for number, page in enumerate(pages[1:]):
        faults += looked_at(visitor, number, page, OTHER_LOOKS, is_known=True)

    assert faults == []
