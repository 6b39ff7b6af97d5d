import pytest
from django.test import Client

from applications.registration.models import LoggedRequest
from applications.registration.services.request_log import flush_request_log
from tests.support.caches import clear_caches


@pytest.fixture
def browser(world):
    clear_caches()
    client = Client()
    client.force_login(world.user)
    api = world.as_application()
    for _ in range(52):
        api.call("GET", "/store")
    api.call("GET", "/store/unassociated")
    world.as_user(world.outsider, application=world.application).call("GET", "/store")
    flush_request_log()
    yield client
    clear_caches()


def own(world):
    return f"/applications/{world.application.pk}"


def test_pages_walk_through_every_call_once(world, browser):
    first = browser.get(f"{own(world)}/requests")
    second = browser.get(f"{own(world)}/requests", {"before": first.context["older"]})
    third = browser.get(f"{own(world)}/requests", {"before": second.context["older"]})
    shown = [row["row"].pk for page in (first, second, third) for row in page.context["rows"]]

    assert len(shown) == len(set(shown)) == 54
    assert third.context["older"] == ""
    assert "Outsider" not in first.content.decode()


def test_figure_of_refused_calls_leads_to_them(world, browser):
    row = LoggedRequest.objects.get(status=401)
    page = browser.get(f"{own(world)}/requests?status=4xx").content.decode()

    assert f"{own(world)}/requests/{row.pk}" in page
    assert page.count("rows-link") == 1
    detail = browser.get(f"{own(world)}/requests/{row.pk}").content.decode()
    assert row.request_id.hex in detail
    assert "/api/v1/docs/errors/store_invalid" in detail
    assert "Read a store" in browser.get(f"{own(world)}/requests/performance").content.decode()


def test_wrong_filters_are_marked_and_nonsense_is_no_error(world, browser):
    page = browser.get(f"{own(world)}/requests?status=teapot&request=5&since=never")
    assert set(page.context["form"].errors) == {"status", "request", "since"}
    for query in ("before=x", "before=99999999999999999-1", f"before={'9' * 16}-{'9' * 18}", "code=%27"):
        assert browser.get(f"{own(world)}/requests?{query}").status_code == 200, query
    for number in ("x", "0", "9" * 30):
        assert browser.get(f"{own(world)}/requests/{number}").status_code == 404


def test_others_see_nothing_of_it(world, browser):
    row = LoggedRequest.objects.first()
    other = f"/applications/{world.other_application.pk}"
    anonymous = Client()
    anonymous.force_login(world.outsider)

    assert anonymous.get(f"{own(world)}/requests").status_code == 403
    assert anonymous.get(f"{other}/requests/{row.pk}").status_code == 404


def test_page_costs_the_same_however_many_calls_it_shows(world, browser, django_assert_max_num_queries):
    with django_assert_max_num_queries(9):
        browser.get(f"{own(world)}/requests")
