"""Limits on the pages of one person, and of one address without a session."""

import threading

import pytest
from django.http import HttpRequest, StreamingHttpResponse
from django.test import Client
from django.utils import timezone

from accounts.concurrency_limits import PAGES, VISITOR_PAGES
from accounts.models import User
from accounts.pages import middleware
from fulfillment.core import concurrency_limits
from fulfillment.core.errors import ServiceBusy
from fulfillment.core.http.refusal_page import refuse, refuse_session, refused_seconds
from stores.concurrency_limits import ORDERS
from tests.factories.accounts import UserFactory
from tests.support.caches import clear_caches
from tests.support.patience import PATIENCE, wait_for

PAGE, PICTURE, VISITOR_PAGE = "/applications", f"/logos/{'0' * 64}.png", "/guide"


@pytest.fixture
def person(world):
    browser = Client()
    browser.force_login(world.user)
    return browser


@pytest.fixture
def other(world):
    browser = Client()
    browser.force_login(world.outsider)
    return browser


def statuses(browser, path, count):
    return [browser.get(path).status_code for _ in range(count)]


def sent(browser, path):
    return {"HTTP_COOKIE": f"sessionid={browser.cookies['sessionid'].value}", "PATH_INFO": path}


def test_pages_of_one_person_are_limited_in_a_minute(person, other, client, settings):
    settings.PAGES_PER_MINUTE = 3

    assert statuses(person, PAGE, 5) == [200, 200, 200, 429, 429]
    refused = person.post("/accounts/logout/")
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert "Rate limit is exceeded. Try again in" in refused.content.decode()
    assert (other.get(PAGE).status_code, client.get(VISITOR_PAGE).status_code) == (200, 200)


def test_second_session_of_a_person_counts_with_the_first(person, world, settings):
    settings.PAGES_PER_MINUTE = 3
    second = Client()
    second.force_login(world.user)

    assert statuses(person, PAGE, 2) + statuses(second, PAGE, 2) == [200, 200, 200, 429]


def test_pages_of_unconfirmed_accounts_count_for_the_person_who_made_them(person, other, world, settings):
    settings.PAGES_PER_MINUTE = 3
    account, made = UserFactory(tenant=world.tenant, email_confirmed=None, counted_on=world.user), Client()
    made.force_login(account)

    assert statuses(person, PAGE, 2) + statuses(made, PAGE, 1) == [200, 200, 200]
    assert person.get(PAGE).status_code == 429
    assert other.get(PAGE).status_code == 200
    User.objects.filter(pk=account.pk).update(email_confirmed=timezone.now())
    assert made.get(PAGE).status_code == 200


def test_limits_are_the_same_in_another_process(person, settings):
    settings.PAGES_PER_MINUTE = 3
    statuses(person, PAGE, 3)
    # Another process remembers nothing of this one.
    clear_caches()

    assert person.get(PAGE).status_code == 429


def test_pages_of_an_address_without_a_session_are_limited_in_a_minute(client, person, settings, db):
    settings.ADDRESS_PAGES_PER_MINUTE = 2
    client.cookies["sessionid"] = "of-no-one"

    assert statuses(client, VISITOR_PAGE, 3) == [200, 200, 429]
    # An address that does not exist is a page too.
    assert client.get("/no-such-page").status_code == 429
    assert client.get(VISITOR_PAGE, REMOTE_ADDR="192.0.2.7").status_code == 200
    assert person.get(PAGE).status_code == 200


def test_pictures_count_apart_and_five_times_as_many(person, settings):
    settings.PAGES_PER_MINUTE = 1
    statuses(person, PAGE, 2)

    assert statuses(person, PICTURE, 6) == [404] * 5 + [429]
    refused = person.get(PICTURE)
    assert (refused.content, int(refused["Retry-After"]) > 0) == (b"", True)


def test_requests_of_programs_do_not_count(client, settings, db):
    settings.ADDRESS_PAGES_PER_MINUTE = 1
    statuses(client, VISITOR_PAGE, 2)

    assert client.get(VISITOR_PAGE).status_code == 429
    assert client.get("/healthz").status_code == 200
    assert client.get("/api/v1/store").status_code == 401


def test_refusal_needs_no_query(person, settings, django_assert_num_queries):
    settings.PAGES_PER_MINUTE = 1
    statuses(person, PAGE, 2)

    with django_assert_num_queries(0):
        assert person.get(PAGE).status_code == 429


class Busy:
    """Pages under way until the block ends."""

    def __init__(self, limit, caller, count):
        self.limit, self.caller, self.count = limit, caller, count
        self.over = threading.Event()

    def __enter__(self):
        before = pages_under_way()
        self.threads = [threading.Thread(target=self._hold) for _ in range(self.count)]
        for thread in self.threads:
            thread.start()
        wait_for(lambda: pages_under_way() == before + self.count)
        return self

    def _hold(self):
        with self.limit.slot(self.caller):
            self.over.wait(PATIENCE)

    def __exit__(self, *raised):
        self.over.set()
        for thread in self.threads:
            thread.join()


def pages_under_way():
    return sum(kind in {"pages", "visitor pages"} for kind, _ in concurrency_limits._under_way)


def test_person_has_three_pages_at_once_in_a_process(person, other, world, settings):
    settings.PAGE_WAIT_SECONDS = 0.05
    with Busy(PAGES, f"user:{world.user.pk}", 3):
        refused = person.get(PAGE)
        assert other.get(PAGE).status_code == 200
        assert person.get(PICTURE).status_code == 404
    assert (refused.status_code, refused["Retry-After"]) == (429, "2")
    assert 1 < refused_seconds(sent(person, PAGE)) <= 2
    assert refused_seconds(sent(person, PICTURE)) == refused_seconds(sent(other, PAGE)) == 0
    assert "You already have as many pages in progress as one caller may have." in refused.content.decode()
    assert person.get(PAGE).status_code == 200


def test_people_without_a_page_in_progress_have_one_beside_the_slow_pages_of_others(
    person, other, world, settings
):
    settings.WEB_THREADS, settings.PAGE_WAIT_SECONDS = 8, 0.05
    with Busy(PAGES, "user:one", 3), Busy(PAGES, "user:two", 1):
        assert (other.get(PAGE).status_code, person.get(PAGE).status_code) == (200, 200)
        with pytest.raises(ServiceBusy), PAGES.slot("user:two", wait=0.05):
            pass
        with Busy(PAGES, "user:three", 1), Busy(PAGES, "user:four", 1):
            # The last thread of limited work is for other work than pages.
            assert other.get(PAGE).status_code == 503
            with ORDERS.slot("user:five"):
                pass


def test_refused_requests_of_a_session_count_for_the_minute(person, settings):
    settings.PAGES_PER_MINUTE = 5
    refuse_session(person.cookies["sessionid"].value, seconds=2)

    waits = [refused_seconds(sent(person, PAGE)) for _ in range(6)]
    refuse_session(person.cookies["sessionid"].value, seconds=2)

    assert waits[4] <= 2 < 58 < waits[5]
    assert refused_seconds(sent(person, PAGE)) > 58


def test_refusal_of_a_flood_is_in_the_language_of_the_browser(person):
    refuse_session(person.cookies["sessionid"].value, seconds=2)

    pages = refuse(1.5, {"HTTP_ACCEPT_LANGUAGE": "de-DE,de;q=0.9"}, lambda status, headers: None)

    assert (
        "Das Anfragelimit ist überschritten. Versuchen Sie es in 2 Sekunden noch einmal."
        in b"".join(pages).decode()
    )


def test_address_without_a_session_has_two_pages_at_once_in_a_process(client, person, settings, db):
    settings.PAGE_WAIT_SECONDS = 0.05
    with Busy(VISITOR_PAGES, "address:127.0.0.1", 2):
        assert client.get(VISITOR_PAGE).status_code == 429
        assert person.get(PAGE).status_code == 200
        assert client.get(VISITOR_PAGE, REMOTE_ADDR="192.0.2.7").status_code == 200


def test_page_above_the_limit_waits_for_another_to_end(person, world):
    with Busy(PAGES, f"user:{world.user.pk}", 3) as busy:
        threading.Timer(0.2, busy.over.set).start()
        assert person.get(PAGE).status_code == 200


def test_pages_leave_a_thread_to_the_api(client, world, settings):
    settings.WEB_THREADS = 8
    visitors, last = Busy(VISITOR_PAGES, "address:192.0.2.7", 2), Busy(VISITOR_PAGES, "address:192.0.2.8", 1)
    with Busy(PAGES, "user:one", 3), Busy(PAGES, "user:two", 1), visitors, last:
        refused = client.get(VISITOR_PAGE)
        assert world.as_user(world.user).get("/api/v1/store").status_code == 200
    assert (refused.status_code, refused["Retry-After"]) == (503, "2")
    assert "The service already has as many pages in progress as it accepts." in refused.content.decode()


def test_streamed_page_counts_until_it_is_sent(world, settings):
    pages = middleware.PageLimits(lambda request: StreamingHttpResponse(iter([b"a", b"b"])))
    request = HttpRequest()
    request.path_info = VISITOR_PAGE
    response = pages(request)
    assert pages_under_way() == 1

    assert b"".join(response.streaming_content) == b"ab"
    response.close()
    assert pages_under_way() == 0
