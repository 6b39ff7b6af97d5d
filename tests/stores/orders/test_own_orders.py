"""The orders that a person placed without an application: listed, shown and cancelled in the portal."""

import re
from html import unescape

import pytest

from accounts.models import Role
from stores.catalog.models import Product
from stores.catalog.services.products import save_product
from stores.orders.models import ActorKind, CancellationState, Order, OrderItem, OrderStatus
from stores.orders.request_bodies import read_order_request
from stores.orders.services.changes import Actor
from stores.orders.services.transitions import transition_order
from tests.factories.orders import RECIPIENT, card_data, make_card, make_product, order_body, product_values
from tests.factories.templates import field

ASKED = "The store decides whether"


@pytest.fixture
def orders(world):
    """One of a person, one of the same person through an application, one of another person."""
    make_card(world.demo, "card")
    make_product(world.associated, "plain")
    item = {"ProductID": "card", "Quantity": 100, "TemplateData": card_data()}
    callers = (
        world.as_user(world.user),
        world.as_user(world.user, application=world.application),
        world.as_user(world.outsider),
    )
    placed = [caller.call("POST", "/store/demo/order", order_body(Items=[item])) for caller in callers]
    assert [response.status_code for response in placed] == [201] * 3
    return [Order.objects.get(pk=response.json()["OrderID"]) for response in placed]


def test_people_see_the_orders_they_placed_without_an_application(orders, browser):
    page = browser.get("/orders").content.decode()

    assert [str(order.number) in page for order in orders] == [True, False, False]
    assert [browser.get(f"/orders/{order.pk}").status_code for order in orders] == [200, 404, 404]
    assert browser.get("/orders/nonsense").status_code == 404
    found = browser.get(f"/orders?q={orders[0].number}").content.decode()
    assert f"/orders/{orders[0].pk}" in found
    assert f"/orders/{orders[0].pk}" not in browser.get("/orders?q=nobody").content.decode()


def test_key_of_a_form_is_the_same_before_and_after_an_update():
    """The key has the request as text; with another member, a form that is sent again orders again."""
    assert str(read_order_request(order_body())).endswith(" reprint_of=None, placed=None, labels=())")


def test_own_order_shows_its_proof_and_timeline(orders, browser):
    root = f"/orders/{orders[0].pk}"

    page = browser.get(root).content.decode()

    assert "Dana Whitfield" in page
    assert "Timeline" in page
    proof = browser.get(browser.get(f"{root}/items/1/proof")["Location"])
    assert b"".join(proof.streaming_content).startswith(b"\x89PNG")


def test_own_order_of_one_product_is_ordered_again_from_its_page(orders, browser):
    data = dict.fromkeys(card_data(), "Ordered before")
    OrderItem.objects.update(quantity=250, line_total=30, template_data=data)
    page = browser.get(f"/orders/{orders[0].pk}").content.decode()

    again = f"/catalog/demo/card?again={orders[0].pk}"
    assert f'href="{again}"' in page
    form = browser.get(again).content.decode()
    assert "Ordered before" in form
    assert 'name="quantity" inputmode="numeric" value="250"' in " ".join(form.split())
    # Not with the values of another person.
    assert "Ordered before" not in browser.get(f"/catalog/demo/card?again={orders[2].pk}").content.decode()


def test_own_order_of_a_product_that_is_off_sale_is_not_ordered_again(orders, browser):
    Product.objects.filter(external_id="card").update(is_active=False)

    assert "?again=" not in browser.get(f"/orders/{orders[0].pk}").content.decode()


def test_own_orders_of_a_store_end_with_the_role_on_it(world, browser):
    make_product(world.associated, "plain")
    for grant in ("Order.Self.Read", "Order.Self.Write"):
        Role.objects.get_or_create(user=world.user, store=world.associated, grant=grant)
    body = order_body(Items=[{"ProductID": "plain", "Quantity": 100}])
    placed = world.as_user(world.user).call("POST", "/store/associated/order", body)
    assert placed.status_code == 201, placed.content
    order = Order.objects.get(pk=placed.json()["OrderID"])
    assert str(order.number) in browser.get("/orders").content.decode()

    Role.objects.filter(user=world.user, store=world.associated).delete()

    assert str(order.number) not in browser.get("/orders").content.decode()
    assert browser.get(f"/orders/{order.pk}").status_code == 404


def test_who_may_only_order_sees_the_own_orders(world, signed_in):
    make_product(world.unassociated, "plain")
    Role.objects.create(user=world.outsider, store=world.unassociated, grant="Order.Self.Write")
    body = order_body(Items=[{"ProductID": "plain", "Quantity": 100}])
    placed = world.as_user(world.outsider).call("POST", "/store/unassociated/order", body)
    assert placed.status_code == 201, placed.content

    page = signed_in(world.outsider).get(f"/orders/{placed.json()['OrderID']}")

    assert page.status_code == 200


def test_own_order_is_cancelled_at_once_before_production(orders, browser):
    page = browser.post(f"/orders/{orders[0].pk}/cancel", {"reason": "Twice"}, follow=True).content.decode()

    orders[0].refresh_from_db()
    assert (orders[0].status, orders[0].cancellation_reason) == (OrderStatus.CANCELLED, "Twice")
    assert f"Order {orders[0].number} is cancelled." in page
    assert "Cancel the order" not in page


def test_own_order_in_production_is_cancelled_by_the_store(world, orders, browser):
    for status in (OrderStatus.ACCEPTED, OrderStatus.IN_PRODUCTION):
        transition_order(order=orders[0], status=status, actor=Actor(ActorKind.STORE, world.operator.pk))

    page = browser.post(f"/orders/{orders[0].pk}/cancel", follow=True).content.decode()

    orders[0].refresh_from_db()
    assert orders[0].cancellation == CancellationState.REQUESTED
    assert ASKED in page
    assert browser.post(f"/orders/{orders[2].pk}/cancel").status_code == 404


def test_own_orders_page_takes_few_queries(orders, browser, django_assert_max_num_queries):
    browser.get("/orders")
    with django_assert_max_num_queries(15):
        browser.get("/orders")


PRODUCT = "/catalog/associated/card"


@pytest.fixture
def buyer(world, signed_in):
    """The browser of a person who may order a product with two fields and two deliveries."""
    make_product(world.associated, TemplateFields=[field("Name"), field("Title")])
    for grant in ("Store.Self.Read", "Order.Self.Write"):
        Role.objects.create(user=world.outsider, store=world.associated, grant=grant)
    return signed_in(world.outsider)


def typed(page, **more):
    """What a browser sends of the form, with a recipient."""
    inputs = re.findall(r'<input[^>]*?name="([^"]+)"[^>]*?value="([^"]*)"([^>]*)>', page)
    values = {name: unescape(value) for name, value, rest in inputs if name != "option" or "checked" in rest}
    return {**values, **{f"to-{name}": value for name, value in RECIPIENT.items()}, "country": "US", **more}


def priced(buyer, **more):
    """The same with prices, of which the first is chosen."""
    form = typed(buyer.get(PRODUCT).content.decode(), **more)
    return typed(buyer.post(PRODUCT, {**form, "do": "quote"}).content.decode(), do="buy")


def test_nothing_is_ordered_at_a_price_that_was_not_shown(buyer):
    page = buyer.post(PRODUCT, typed(buyer.get(PRODUCT).content.decode(), do="buy")).content.decode()

    assert "Choose a price, then place the order." in page
    assert not Order.objects.exists()
    buyer.post(PRODUCT, typed(page, do="buy"))
    order = Order.objects.get()
    assert (order.option_id, f"{order.total} USD" in page) == ("GROUND-1", True)


def test_form_that_is_sent_twice_orders_once(buyer):
    form = priced(buyer)

    first, again = (buyer.post(PRODUCT, form) for _ in range(2))
    assert (first.status_code, first["Location"]) == (302, again["Location"])
    assert Order.objects.count() == 1
    said = buyer.get(again["Location"]).content.decode()
    assert f"Order {Order.objects.get().number} was placed with this form before." in said

    more = buyer.post(PRODUCT, {**form, "quantity": "200", "do": "quote"}).content.decode()
    buyer.post(PRODUCT, {**typed(more, do="buy"), "form": form["form"]})
    buyer.post(PRODUCT, priced(buyer))
    assert sorted(Order.objects.values_list("total_quantity", flat=True)) == [100, 100, 200]


def test_chosen_delivery_stays_chosen_when_the_address_is_corrected(buyer):
    form = typed(buyer.get(PRODUCT).content.decode())
    page = buyer.post(PRODUCT, {**form, "do": "quote"}).content.decode()
    overnight = re.findall(r'value="([^"]+/OVERNIGHT-[0-9]+)"', page)[0]

    wrong = buyer.post(PRODUCT, {**form, "do": "buy", "option": overnight, "to-City": ""}).content.decode()
    buyer.post(PRODUCT, typed(wrong, do="buy"))

    assert Order.objects.get().delivery_method_code == "OVERNIGHT"


def test_form_of_a_template_that_changed_orders_nothing_until_it_is_seen(buyer, world):
    """Values are sent by the places of their fields: each would be printed in the place of another."""
    form = priced(buyer) | {"field-0": "Ada", "field-1": "Countess"}
    values = product_values(TemplateFields=[field("Title"), field("Name")])
    save_product(store=world.associated, values=values, product=Product.objects.get())

    shown = buyer.post(PRODUCT, form).content.decode()
    assert "The template of this product changed." in shown
    assert not Order.objects.exists()

    buyer.post(PRODUCT, {**typed(shown, do="buy"), "field-0": "Countess", "field-1": "Ada"})
    assert Order.objects.get().items.get().template_data == {"Name": "Ada", "Title": "Countess"}


@pytest.mark.parametrize("place", [{"country": "DE"}, {"location": "Business"}])
def test_form_with_a_place_that_is_no_longer_served_orders_nothing(buyer, place):
    form = typed(buyer.get(PRODUCT).content.decode(), do="buy", **place)
    page = buyer.post(PRODUCT, form).content.decode()
    # What the form then sends: nothing is chosen.
    buyer.post(PRODUCT, {**form, **dict.fromkeys(place, "")})

    assert Order.objects.count() == 0
    said = {
        "country": "not delivered there. Choose another country.",
        "location": "not delivered to such addresses. Choose another type.",
    }
    assert said[next(iter(place))] in page


def test_order_to_a_place_that_is_no_longer_served_is_not_filled_in_for_another(orders, browser):
    recipient = {**orders[0].recipient, "CountryCode": "DE"}
    Order.objects.filter(pk=orders[0].pk).update(recipient=recipient)

    form = browser.get(f"/catalog/demo/card?again={orders[0].pk}").content.decode()

    assert "The product is not delivered there. Choose another country." in form
