"""Items that are ordered for an EDDM selection: quoted, ordered, shown, and their papers."""

import io
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from pypdf import PdfReader

from accounts.callers import Caller
from delivery.papers.services import save_postage_price
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from stores.orders.models import Order
from stores.orders.services import quotes
from stores.orders.services.reprints import reprint_order
from tests.factories.eddm import ROUTES, make_selection
from tests.factories.orders import make_product, order_body

ORDERS = "/store/associated/order"
HERE = {"CountryCode": "US"}
SHOWN = [{"PostalCode": code, "CarrierRouteID": route, "Pieces": pieces} for code, route, pieces, _ in ROUTES]


@pytest.fixture
def mail_shop(shop):
    make_product(
        shop.world.associated, "mailer", IsEddm=True, MinimumQty=200, DefaultQty=200, MaximumQty=25_000
    )
    return shop


@pytest.fixture
def selection(mail_shop):
    return make_selection(application=mail_shop.world.application)


def item(selection, product="mailer", **changes):
    return {"ProductID": product, "EddmSelectionID": str(selection.pk), **changes}


def place(shop, *items, **changes):
    return shop.place(body=order_body(**changes) | {"Items": list(items)})


def ask(shop, *items):
    return shop.world.as_application().call(
        "POST", "/store/associated/quote", {"Items": list(items), "ShipTo": HERE}
    )


def papers(shop, order, key="1"):
    client = shop.world.as_user(shop.world.user)
    return client.call("GET", f"{ORDERS}/{order['OrderID']}/item/{key}/eddm-papers")


def problems(response):
    assert response.status_code == 400, response.json()
    return {(problem["Pointer"], problem["Code"]) for problem in response.json()["Errors"]}


def test_quote_and_order_take_the_pieces_of_the_selection(mail_shop, selection):
    quote = ask(mail_shop, item(selection)).json()
    [line] = quote["Options"][0]["Items"]
    assert (line["Quantity"], line["EddmSelectionID"]) == (600, str(selection.pk))
    assert quote["Options"][0]["Total"] == 72.0

    option = quote["Options"][0]["OptionID"]
    order = place(mail_shop, item(selection), QuoteID=quote["QuoteID"], OptionID=option).json()

    [ordered] = order["Items"]
    assert (ordered["Quantity"], ordered["LineTotal"]) == (600, 72.0)
    assert (ordered["EddmSelectionID"], ordered["EddmVintage"]) == (str(selection.pk), "2026-10")
    assert ordered["EddmRoutes"] == SHOWN
    assert ordered["EddmPapersURL"].endswith(f"/order/{order['OrderID']}/item/1/eddm-papers")
    assert EddmSelection.objects.get().is_ordered


@pytest.mark.parametrize(("most", "status"), [(len(ROUTES), 201), (len(ROUTES) - 1, 503)])
def test_order_of_many_routes_is_a_large_one(mail_shop, selection, settings, monkeypatch, most, status):
    settings.CONCURRENCY_WAIT_SECONDS = settings.LARGE_ORDERS_CONCURRENCY = 0
    monkeypatch.setattr(quotes, "MANY_ROUTES", most)

    assert place(mail_shop, item(selection)).status_code == status


def test_routes_stay_with_the_order_when_the_selection_is_removed(mail_shop, selection):
    order = place(mail_shop, item(selection)).json()
    EddmSelectionRoute.objects.all().delete()
    EddmSelection.objects.all().delete()

    shown = mail_shop.world.as_application().call("GET", f"{ORDERS}/{order['OrderID']}").json()
    assert shown["Items"][0]["EddmRoutes"] == SHOWN
    assert papers(mail_shop, order).status_code == 200
    again = reprint_order(
        order=Order.objects.select_related("store").get(),
        positions=[0],
        caller=Caller.on_pages(mail_shop.world.user),
        known_reprints=0,
    )
    assert again.items.get().eddm["Routes"] == [list(route) for route in ROUTES]


def test_papers_add_up_to_the_order(mail_shop, selection):
    save_postage_price(starts=timezone.now().date(), per_piece=Decimal("0.2470"))
    order = place(mail_shop, item(selection)).json()

    response = papers(mail_shop, order)

    assert response["Content-Type"] == "application/pdf"
    text = "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(response.content)).pages)
    assert f"Order {order['OrderNumber']}, item 1" in text
    assert "1 × 100, 2 × 70" in text
    assert "1 × 49" in text
    assert "2 × 100, 1 × 56, 1 × 55" in text
    assert "SALT LAKE CITY MAIN" in text
    assert "Post office serving 84102" in text
    assert "$148.20" in text
    for slip in ("84101C001-3-3-70", "84101C002-1-1-49", "84102R001-4-4-55"):
        assert slip in text


def test_papers_are_for_those_who_may_read_all_orders(mail_shop, selection):
    order = place(mail_shop, item(selection), {"ProductID": "card", "Quantity": 100}).json()
    path = f"{ORDERS}/{order['OrderID']}/item/1/eddm-papers"

    assert mail_shop.world.as_application().call("GET", path).status_code == 403
    missing = papers(mail_shop, order, "2")
    assert (missing.status_code, missing.json()["Code"]) == (404, "eddm_papers_not_found")


def test_every_mistake_of_an_item_is_named(mail_shop, selection):
    other = make_selection(user=mail_shop.world.outsider)
    old = make_selection(
        application=mail_shop.world.application, expires=timezone.now() - timedelta(minutes=1)
    )
    tiny = make_selection([("84101", "C001", 199, "")], application=mail_shop.world.application)
    items = [
        item(selection, "card"),
        item(other),
        item(old),
        item(tiny),
        {"ProductID": "mailer", "EddmSelectionID": "nonsense"},
        {"ProductID": "mailer", "EddmSelectionID": str(uuid.uuid4())},
    ]
    expected = {
        ("/Items/0/EddmSelectionID", "product_not_for_eddm"),
        ("/Items/1/EddmSelectionID", "eddm_selection_unknown"),
        ("/Items/2/EddmSelectionID", "eddm_selection_expired"),
        ("/Items/3/EddmSelectionID", "quantity_below_minimum"),
        ("/Items/4/EddmSelectionID", "eddm_selection_unknown"),
        ("/Items/5/EddmSelectionID", "eddm_selection_unknown"),
    }

    assert problems(ask(mail_shop, *items)) == expected
    assert problems(place(mail_shop, *items)) == expected


def test_exactly_one_of_quantity_and_selection_is_taken(mail_shop, selection):
    both = item(selection, Quantity=600)
    neither = {"ProductID": "mailer"}

    expected = {("/Items/0/EddmSelectionID", "quantity_or_selection"), ("/Items/1/Quantity", "required")}
    assert problems(ask(mail_shop, both, neither)) == expected
    assert problems(place(mail_shop, both, neither)) == expected
    plain = place(mail_shop, {"ProductID": "mailer", "Quantity": 200}).json()
    assert "EddmRoutes" not in plain["Items"][0]


def test_quote_binds_its_selection(mail_shop, selection):
    quote = ask(mail_shop, item(selection)).json()
    terms = {"QuoteID": quote["QuoteID"], "OptionID": quote["Options"][0]["OptionID"]}
    same_pieces = make_selection(application=mail_shop.world.application)

    for sent in (item(same_pieces), {"ProductID": "mailer", "Quantity": 600}):
        assert problems(place(mail_shop, sent, **terms)) == {("/Items/0/EddmSelectionID", "quote_mismatch")}
    EddmSelection.objects.update(expires=timezone.now())
    assert place(mail_shop, item(selection), **terms).status_code == 201


def test_test_application_cannot_use_a_live_selection_nor_the_other_way(mail_shop):
    tried = make_selection(application=mail_shop.world.application, is_test=True)

    assert problems(place(mail_shop, item(tried))) == {("/Items/0/EddmSelectionID", "eddm_selection_unknown")}
