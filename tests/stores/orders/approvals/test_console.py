"""The queue of approvers in the console."""

import io
import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from PIL import Image

from accounts.models import Role
from stores.orders.models import Order, OrderItem
from stores.orders.services import print_files
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import RECIPIENT, card_data, make_card, order_body
from tests.support.orders.approvals import add_approver

QUEUE = "/admin/stores/approvalrequest/"


@pytest.fixture(autouse=True)
def limit(shop):
    type(shop.store).objects.filter(pk=shop.store.pk).update(approval_above=10)
    make_card(shop.store)


@pytest.fixture
def console(shop, client):
    client.force_login(add_approver(shop))
    return client


def place(shop, quantity=100, city="Denver", **data):
    item = {"ProductID": "card-two-sided", "Quantity": quantity, "TemplateData": {**card_data(), **data}}
    body = order_body(Items=[item], Recipient={**RECIPIENT, "City": city})
    return Order.objects.get(pk=shop.place(body=body).json()["OrderID"])


def decide(console, card, decision, note=""):
    """Sends the form of a card as a browser does."""
    page = console.get(QUEUE)
    form = re.findall(r"<form class=\"approval-form\".*?</form>", page.content.decode(), re.S)[card]
    values = {}
    for name, value in re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', form):
        values.setdefault(name, []).append(unescape(value))
    return console.post(f"{QUEUE}decide/", {**values, "decision": decision, "note": note}, follow=True)


def said(page):
    return [str(message) for message in page.context["messages"]]


def test_queue_shows_proof_price_person_and_reason(shop, console):
    order = place(shop)
    page = console.get(QUEUE)
    text = " ".join(page.content.decode().split())
    picture = re.search(r'src="([^"]+large\.png[^"]*)"', text)[1]

    assert f"Order {order.number}" in text
    assert "12.00 USD" in text
    assert "Mail Studio" in text
    assert "The total 12.00 is above 10.00." in text
    assert console.get(picture).headers["Content-Type"] == "image/png"
    alone = " ".join(console.get(f"{QUEUE}{order.pk}/change/").content.decode().split())
    [_, zoomed] = re.findall(r'href="([^"]+widest\.png[^"]*)" [^>]*data-zoom="[0-9.]+"', alone)
    assert Image.open(io.BytesIO(console.get(f"{zoomed}&width=900").content)).width == 3000
    assert "1 order needs approval" in " ".join(
        re.sub("<[^>]+>", " ", console.get("/admin/").content.decode()).split()
    )


def test_queue_shows_how_the_budgets_stand_with_the_order(shop, console):
    make_budget(enable_budgets(shop.store), Limit=50)
    type(shop.store).objects.filter(pk=shop.store.pk).update(approval_above=10)
    place(shop)
    text = " ".join(console.get(QUEUE).content.decode().split())

    assert "Budget Marketing" in text
    assert "<b>38.00 USD left</b> of 50.00 USD" in text
    assert "with this order" in text


def test_budget_that_needs_approval_is_drawn_once(shop, console):
    budget = make_budget(enable_budgets(shop.store), Limit=10, OverBudget="Approve")
    order = place(shop)
    pages = [console.get(QUEUE), console.get(f"{QUEUE}{order.pk}/change/")]

    for page in pages:
        text = page.content.decode()
        assert f"The budget {budget.name} has" in text
        assert text.count('class="gauge ') == 1
        assert text.count('class="approval-meter"') == 0


def test_approver_without_other_grants_opens_no_order(shop, console):
    order = place(shop)

    assert console.get(reverse("admin:stores_order_change", args=[order.pk])).status_code == 403
    assert "stores/order/" not in console.get(f"{QUEUE}{order.pk}/change/").content.decode()


def test_order_says_in_the_language_of_its_reader_who_approved_it(shop, console, client):
    order = place(shop)
    decide(console, 0, "approve")
    client.force_login(shop.world.operator)

    page = client.get(reverse("admin:stores_order_change", args=[order.pk]), HTTP_ACCEPT_LANGUAGE="de")

    order.refresh_from_db()
    approver = order.approval_request.decided_by.full_name
    assert f"Freigabe: Genehmigt von {approver}" in page.content.decode()


def test_staff_without_the_grant_and_of_other_stores_see_nothing(shop, client):
    order = place(shop)
    client.force_login(shop.world.user)
    assert client.get(QUEUE).status_code == 403
    Role.objects.create(user=shop.world.user, store=shop.world.unassociated, grant="Order.All.Approve")
    assert f"Order {order.number}" not in client.get(QUEUE).content.decode()
    assert client.get(f"{QUEUE}{order.pk}/change/").status_code == 404
    assert (
        client.get(
            reverse("admin:stores_approvalrequest_picture", args=[order.pk, 0, 0, "large"])
        ).status_code
        == 404
    )
    client.post(f"{QUEUE}decide/", {"order": str(order.pk), "decision": "approve"})
    assert Order.objects.get().approval == "Pending"


def test_decisions_of_the_form(shop, console):
    first, second = place(shop, Name="Ada"), place(shop, Name="Grace")
    approved = decide(console, 0, "approve")
    unreasoned = decide(console, 0, "deny")
    denied = decide(console, 0, "deny", "Too many.")

    assert said(approved) == [f"Order {first.number} approved."]
    assert said(unreasoned) == ["A denial needs a reason: the person who ordered reads it."]
    assert said(denied) == [f"Order {second.number} denied."]
    assert list(Order.objects.order_by("number").values_list("approval", flat=True)) == ["Approved", "Denied"]
    assert "Too many." in console.get(f"{QUEUE}?state=decided").content.decode()


def test_decisions_are_told_in_the_readers_language(shop, console):
    orders = [place(shop, city=city) for city in ("Denver", "Boulder")]
    denied = place(shop, quantity=150)
    console.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    numbers = ", ".join(str(order.number) for order in orders)

    assert said(decide(console, 0, "approve")) == [f"Bestellungen {numbers} freigegeben."]
    assert said(decide(console, 0, "deny", "Zu viele.")) == [f"Bestellung {denied.number} abgelehnt."]


def test_equal_orders_share_a_card_and_are_decided_together(shop, console):
    orders = [place(shop, city=city) for city in ("Denver", "Boulder", "Golden")]
    other = place(shop, quantity=150)
    page = console.get(QUEUE)
    decided = decide(console, 0, "approve", "For all offices.")

    assert [len(card.members) for card in page.context["cards"]] == [3, 1]
    assert said(decided) == [f"Orders {', '.join(str(order.number) for order in orders)} approved."]
    assert Order.objects.get(pk=other.pk).approval == "Pending"


def test_orders_of_different_artwork_share_no_card(shop, console):
    orders = [place(shop), place(shop)]
    for number, order in enumerate(orders):
        order.items.update(artwork={"AssetID": f"00000000-0000-4000-8000-00000000000{number}"})

    assert [len(card.members) for card in console.get(QUEUE).context["cards"]] == [1, 1]


def test_values_are_compared_only_of_orders_that_may_be_equal(shop, console):
    place(shop)
    place(shop, quantity=200)
    with CaptureQueriesContext(connection) as queries:
        console.get(QUEUE)

    assert not any("string_agg" in query["sql"] for query in queries)


def test_orders_without_items_are_shown(shop, console):
    orders = [place(shop), place(shop)]
    OrderItem.objects.all().delete()
    page = console.get(QUEUE).content.decode()

    assert all(str(order.number) in page for order in orders)


def test_pages_read_only_what_they_show_of_items(shop, console):
    line = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    order = Order.objects.get(pk=shop.place(body=order_body(Items=[line] * 6)).json()["OrderID"])
    place(shop)

    with CaptureQueriesContext(connection) as queries:
        page = console.get(QUEUE)
        decide(console, 0, "approve")

    selected = [
        query["sql"].partition(" FROM ")[0] for query in queries if 'FROM "stores_orderitem"' in query["sql"]
    ]
    assert selected
    assert not [sql for sql in selected if '"preflight"' in sql or '"template_data"' in sql]
    [card, _] = page.context["cards"]
    assert [item.position for item in card.shown_items] == [0, 1, 2, 3]
    assert card.pictured.order_id == order.pk
    assert "2 more" in page.content.decode()


def test_equal_print_files_are_read_once(shop, console, monkeypatch):
    line = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    other = {**line, "TemplateData": {**card_data(), "Name": "Grace"}}
    order = shop.place(body=order_body(Items=[line, line, other, *[line] * 20])).json()["OrderID"]
    opened, read = [], print_files.read_print_file

    def noting(*, item):
        opened.append(item.position)
        return read(item=item)

    monkeypatch.setattr(print_files, "read_print_file", noting)
    page = console.get(f"{QUEUE}{order}/change/")

    assert opened == [0, 2]
    assert [(item.position, len(widths)) for item, widths in page.context["pages"]] == [
        (position, 2) for position in range(10)
    ]


def test_orders_that_differ_are_not_decided_together(shop, console):
    orders = [place(shop), place(shop, quantity=150)]
    refused = console.post(
        f"{QUEUE}decide/", {"order": [str(order.pk) for order in orders], "decision": "approve"}, follow=True
    )

    assert said(refused) == ["You can decide orders together only if they are equal. Nothing was decided."]
    assert {order.approval for order in Order.objects.all()} == {"Pending"}


def test_order_changed_since_the_page_was_loaded_is_not_decided(shop, console):
    order = place(shop)
    page_version = {f"seen-{order.pk}": '"other"', "order": str(order.pk), "decision": "approve"}
    refused = console.post(f"{QUEUE}decide/", page_version, follow=True)

    assert "has changed since" in said(refused)[0]
    assert Order.objects.get().approval == "Pending"


def test_own_order_shows_no_buttons(shop, client):
    Role.objects.create(user=shop.world.user, store=shop.store, grant="Order.All.Approve")
    place(shop)
    client.force_login(shop.world.user)
    page = client.get(QUEUE).content.decode()

    assert "You placed this order, or own the application that did." in " ".join(page.split())
    assert "approval-form" not in page
    assert "needs approval" not in client.get("/admin/").content.decode()
