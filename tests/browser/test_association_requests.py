"""Requests are decided in a browser from wherever they are seen, in two clicks at most."""

import pytest
from playwright.sync_api import expect

from accounts.models import AssociationRequest
from stores.catalog.models import Store
from tests.support.browser.actions import Actions
from tests.support.browser.console_fixtures import ask_for_stores
from tests.support.browser.console_forms import open_console
from tests.support.browser.page_fixtures import furnish
from tests.support.browser.visual_checks import LIST_OVERFLOW, shoot

pytestmark = pytest.mark.slow


@pytest.fixture
def requested(site) -> AssociationRequest:
    """The oldest one."""
    furnish(site[1])
    requests = AssociationRequest.objects.select_related("application", "store", "user__tenant")
    return requests.filter(state="Pending").order_by("created").first()


def test_request_is_approved_from_the_list_with_one_click(requested, visitor):
    page = visitor.page
    open_console(visitor, "/admin/accounts/associationrequest/")
    shoot(page, "requests")
    actions = Actions(page, "Approve an association request (list)")
    page.get_by_role("button", name=f"Approve {requested}").click()

    expect(page.get_by_text(f"{requested}: approved.")).to_be_visible()
    assert actions.note() == 1
    assert visitor.complaints == []


@pytest.fixture
def long_request(site) -> None:
    ask_for_stores(site[1])
    Store.objects.filter(pk=site[1].unassociated.pk).update(company_name="Siebdruck" + "manufaktur" * 9)


@pytest.mark.usefixtures("long_request")
def test_buttons_of_a_list_stay_in_sight_beside_long_words(visitor):
    page = visitor.page
    open_console(visitor, "/admin/accounts/associationrequest/")

    assert page.evaluate(LIST_OVERFLOW) > 0
    edge = page.get_by_role("link", name="Decline").first.bounding_box()
    assert edge["x"] + edge["width"] <= 1280
    page.mouse.click(edge["x"] + edge["width"] / 2, edge["y"] + edge["height"] / 2)
    expect(page.get_by_label("Reason")).to_be_visible()


def test_request_is_approved_from_the_start_page_with_two_clicks(requested, visitor):
    page = visitor.page
    open_console(visitor, "/admin/")
    actions = Actions(page, "Approve an association request (start page)")
    page.locator(f"main a[href*='{requested.pk}']").first.click()
    expect(
        page.get_by_text("The application would be able to").or_(page.get_by_text("would be able to"))
    ).to_be_visible()
    page.get_by_role("button", name="Approve", exact=True).click()

    expect(page.get_by_text(f"{requested}: approved.")).to_be_visible()
    assert actions.note() == 2


@pytest.mark.parametrize("visitor", [(390, "dark")], indirect=True)
def test_request_is_declined_with_a_reason_by_the_first_of_two(requested, visitor):
    page = visitor.page
    open_console(visitor, f"/admin/accounts/associationrequest/{requested.pk}/change/")
    other = page.context.new_page()
    other.goto(page.url)
    shoot(page, "request")
    page.get_by_role("button", name="Decline").click()
    expect(page.get_by_text("Enter a reason: the applicant sees it.")).to_be_visible()
    actions = Actions(page, "Decline an association request with a reason")
    page.get_by_label("Reason").fill("Only for printers of Utah")
    page.get_by_role("button", name="Decline").click()
    expect(page.get_by_text(f"{requested}: declined.")).to_be_visible()
    assert actions.note() == 2

    other.get_by_role("button", name="Approve", exact=True).click()

    expect(other.get_by_text(f"{requested}: denied by")).to_be_visible()
    assert visitor.complaints == []
