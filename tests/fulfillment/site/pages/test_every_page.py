"""Every page that a person can reach by links: it opens, takes few queries, leads nowhere dead, and is translated."""

import pytest
from django.test import Client

from accounts.pages.confirmation import WAITING
from tests.support.browser.crawler import NOT_PAGES, dead_fragments, walk
from tests.support.browser.pseudo import plain_texts
from tests.support.database.snapshots import Snapshot
from tests.support.scenario import World

pytestmark = pytest.mark.slow

# One of them counts the page.
MAX_QUERIES = 13
STARTS = ["/", "/accounts/password-reset/", "/accounts/password-reset/sent/"]
# A field of the question for the password, and of no other page.
ASKS_PASSWORD = f'name="{WAITING}"'.encode()
FORMS = ["/accounts/login/", "/accounts/signup/"]


@pytest.fixture
def world(made_portal: Snapshot[World], db) -> World:
    return made_portal.restore()


@pytest.mark.parametrize("name", ["user", "operator", "outsider", None])
def test_every_page_opens_with_few_queries_and_no_broken_link(world, signed_in, pseudo, sources, name):
    person = signed_in(getattr(world, name)) if name else Client()
    person.defaults["HTTP_ACCEPT_LANGUAGE"] = pseudo
    seen, elsewhere, visits = {}, set(), []

    for visit in walk(person, [*STARTS, *FORMS], without=("/admin",)):
        visits.append(visit)
        seen[visit.path] = (visit.response.status_code, len(visit.queries))
        elsewhere |= {link for link in visit.links if link.startswith(NOT_PAGES)}

    # Who is signed in is sent on from the sign-up, and from a notification to what it is about.
    sent_on = {path for path, (status, _) in seen.items() if status == 302}
    sent_on -= {path for path in sent_on if path.startswith("/notifications/")}
    assert sent_on == ({"/accounts/signup/"} if name else set())
    assert {path: status for path, (status, _) in seen.items() if status not in {200, 302}} == {}
    assert {path: count for path, (_, count) in seen.items() if count > MAX_QUERIES} == {}
    # A link to a page that asks for the password first leads to its place once that is typed.
    opened = [visit for visit in visits if ASKS_PASSWORD not in visit.response.content]
    assert dead_fragments(person, opened) == set()
    assert len(seen) > {"user": 30, "operator": 25, "outsider": 20, None: 4}[name]
    assert {link for link in elsewhere if status_of(person, link) != 200} == set()
    # What belongs to the reference is English for everyone.
    translated = [(visit.path, visit.response) for visit in visits if not visit.path.startswith("/send/")]
    assert plain_texts(translated, sources) == ""


def status_of(person: Client, link: str) -> int:
    response = person.get(link, SERVER_NAME="127.0.0.1", SERVER_PORT="8000")
    # Read to its end, a download leaves its place to the next one.
    _ = response.getvalue()
    return response.status_code
