"""The whole story of an order above the limit: ordered, denied, corrected, approved, and then made."""

import pytest
from django.conf import settings
from playwright.sync_api import expect

from accounts.models import Notification, Role
from production.jobs.models import Job
from stores.catalog.models import Store
from stores.orders.models import Order
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import RECIPIENT, card_data, make_card, order_body
from tests.factories.production import make_provider, make_rule
from tests.support.browser.browser_sessions import in_database
from tests.support.browser.console_forms import SIZES
from tests.support.browser.visual_checks import shoot
from tests.support.orders.approvals import add_approver
from tests.support.orders.shop import Shop

pytestmark = pytest.mark.slow

CARD = "/catalog/associated/card-two-sided"


@pytest.fixture
def site(site):
    world = site[1]
    make_card(world.associated)
    make_budget(enable_budgets(world.associated))
    Store.objects.filter(pk=world.associated.pk).update(approval_above=20)
    add_approver(Shop(world))
    for grant in ("Store.Self.Read", "Order.Self.Write"):
        Role.objects.create(user=world.outsider, store=world.associated, grant=grant)
    make_rule(make_provider(settings.MEDIA_ROOT / "production"))
    return site


def change_person(visitor, name, path):
    visitor.page.context.clear_cookies()
    visitor.enter(path, name)


def newest():
    return Order.objects.latest("number")


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_order_above_the_limit_reaches_the_press_only_when_approved(visitor):
    page = visitor.page
    visitor.enter(CARD, "outsider")
    expect(page.get_by_text("100.00 USD left of 100.00 USD in the budget Marketing")).to_be_visible()
    page.get_by_label("Name on the card").fill("Grace Hopper")
    page.get_by_label("Quantity").fill("200")
    page.get_by_role("button", name="Get prices").click()
    expect(page.get_by_text("need approval by Approver Example")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("Dana Whitfield")
    page.get_by_label("Address", exact=True).fill("1200 17th Street")
    page.get_by_label("City").fill("Denver")
    page.get_by_label("Postal code").fill("80202")
    page.get_by_role("button", name="Place the order").click()
    expect(page.get_by_text("is placed and needs approval.")).to_be_visible()
    expect(page.get_by_text("The total 24.00 is above 20.00.")).to_be_visible()
    shoot(visitor.page, "request")
    visitor.go(CARD)
    expect(page.get_by_text("76.00 USD left of 100.00 USD in the budget Marketing")).to_be_visible()
    shoot(visitor.page, "portal-order")

    change_person(visitor, "approver", "/notifications")
    page.get_by_role("link", name="needs approval").click()
    expect(page.get_by_alt_text("Page 1 of Product card-two-sided")).to_be_visible()
    shoot(visitor.page, "approval")
    page.get_by_role("button", name="Deny", exact=True).click()
    expect(page.get_by_text("Enter the reason, then press Enter to deny.")).to_be_visible()
    page.get_by_label("Note").fill("Order 150 instead.")
    page.get_by_role("button", name="Deny", exact=True).click()
    expect(page.get_by_text("denied.")).to_be_visible()

    change_person(visitor, "outsider", "/notifications")
    page.get_by_role("link", name="was denied").click()
    expect(page.get_by_text("Order 150 instead.")).to_be_visible()
    page.get_by_role("link", name="Order Product card-two-sided again").click()
    expect(page.get_by_label("Name on the card")).to_have_value("Grace Hopper")
    expect(page.get_by_label("Address", exact=True)).to_have_value("1200 17th Street")
    expect(page.get_by_text("100.00 USD left of 100.00 USD in the budget Marketing")).to_be_visible()
    page.get_by_label("Quantity").fill("200")
    page.get_by_role("button", name="Get prices").click()
    expect(page.get_by_text("need approval by Approver Example")).to_be_visible()
    page.get_by_role("button", name="Place the order").click()
    expect(page.get_by_text("is placed and needs approval.")).to_be_visible()

    change_person(visitor, "approver", "/admin/stores/approvalrequest/")
    expect(page.get_by_alt_text("First page of Product card-two-sided")).to_be_visible()
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("approved.")).to_be_visible()
    expect(page.get_by_text("Nothing to decide")).to_be_visible()
    assert in_database(lambda: (newest().approval, Job.objects.count())) == ("Approved", 0)

    change_person(visitor, "user", f"/admin/stores/order/{in_database(newest).pk}/change/")
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text(": Accepted.")).to_be_visible()
    jobs = in_database(lambda: list(Job.objects.values_list("order__approval", flat=True)))
    assert jobs == ["Approved"]
    assert in_database(lambda: Notification.objects.filter(kind="approval_decided").count()) == 2
    assert visitor.complaints == []


def place(visitor, quantity, *cities):
    """Equal orders but for their cities; their numbers."""
    item = {"ProductID": "card-two-sided", "Quantity": quantity, "TemplateData": card_data()}
    bodies = [order_body(Items=[item], Recipient={**RECIPIENT, "City": city}) for city in cities]
    shop = Shop(visitor.world)
    return in_database(lambda: [shop.place(body=body).json()["OrderNumber"] for body in bodies])


@pytest.mark.parametrize("visitor", [(1280, "light")], indirect=True)
def test_queue_is_worked_by_keys(visitor):
    page = visitor.page
    denver, boulder = place(visitor, 200, "Denver", "Boulder")
    [other] = place(visitor, 250, "Denver")
    visitor.enter("/admin/stores/approvalrequest/", "approver")
    cards = page.locator("section.approval")
    expect(cards).to_have_count(2)
    expect(cards.first.get_by_text("2 equal orders")).to_be_visible()
    expect(cards.last.get_by_role("checkbox")).to_have_count(0)

    for key, number in (("j", denver), ("j", other), ("j", other), ("k", denver), ("j", other)):
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_have_attribute("aria-label", f"Order {number}")
    page.keyboard.press("d")
    expect(cards.last.get_by_text("Enter the reason, then press Enter to deny.")).to_be_visible()
    page.keyboard.type("jokad: too many")
    shoot(visitor.page, "queue")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"Order {other} denied.")).to_be_visible()

    page.get_by_role("checkbox").last.uncheck()
    page.keyboard.press("a")
    expect(page.get_by_text("Press Enter to approve.")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"Order {denver} approved.")).to_be_visible()
    expect(page.get_by_label(f"Order {boulder}", exact=True)).to_be_visible()
    states = in_database(lambda: {str(one.number): one.approval for one in Order.objects.all()})
    assert states == {denver: "Approved", boulder: "Pending", other: "Denied"}
    assert visitor.complaints == []
