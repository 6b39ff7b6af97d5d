"""The orders of an application on its pages, scoped to what the person may see."""

import html
import re

import pytest

from accounts.models import Role
from applications.webhooks.services.webhooks import create_webhook
from fulfillment.core.errors import NotFound
from stores.orders import pages
from stores.orders.models import ActorKind, Order, OrderHistory, OrderStatus
from stores.orders.services.changes import Actor
from stores.orders.services.recipients import erase_recipient
from stores.proofs.models import Proof
from tests.factories.orders import card_data, make_card, make_product, order_body
from tests.support.api.modes import add_test_application


@pytest.fixture
def orders(world):
    """One of the application on its own, one of a person through it, one of another application."""
    make_card(world.demo, "card")
    make_product(world.associated, "plain")
    item = {"ProductID": "card", "Quantity": 100, "TemplateData": card_data()}
    create_webhook(application=world.application, values={"URL": "https://93.184.216.34/hooks"})
    own = world.as_application().call("POST", "/store/demo/order", order_body(Items=[item], ExternalID="A-1"))
    person = world.as_user(world.outsider, application=world.application)
    persons = person.call("POST", "/store/demo/order", order_body(Items=[item]))
    other = world.as_application(world.other_application)
    foreign = other.call("POST", "/store/demo/order", order_body(Items=[item]))
    assert [response.status_code for response in (own, persons, foreign)] == [201] * 3
    return [response.json()["OrderID"] for response in (own, persons, foreign)]


def test_owners_see_all_orders_of_their_application_and_no_others(world, browser, orders):
    numbers = [str(Order.objects.get(pk=order).number) for order in orders]
    root = f"/applications/{world.application.pk}/orders"

    page = browser.get(root).content.decode()

    assert [number in page for number in numbers] == [True, True, False]
    assert page.index(numbers[1]) < page.index(numbers[0])
    assert browser.get(f"{root}/{orders[2]}").status_code == 404
    assert browser.get(f"{root}/nonsense").status_code == 404
    found = browser.get(f"{root}?q=A-1").content.decode()
    assert (numbers[0] in found, numbers[1] in found) == (True, False)


def test_reader_of_the_application_sees_own_orders(world, signed_in, orders):
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Read")
    reader = signed_in(world.outsider)
    root = f"/applications/{world.application.pk}/orders"

    statuses = [reader.get(f"{root}/{order}").status_code for order in orders]

    assert statuses == [404, 200, 404]
    assert reader.get(f"/print-files/{world.application.pk}/{orders[0]}/1").status_code == 404


def test_order_shows_its_timeline_items_events_and_files(world, browser, orders):
    world.as_operator().call("POST", f"/store/demo/order/{orders[0]}/advance")
    root = f"/applications/{world.application.pk}/orders/{orders[0]}"

    page = browser.get(root).content.decode()

    assert "Accepted" in page
    assert "order.received" in page
    assert "/deliveries/" in page
    assert "Dana Whitfield" in page
    proof = browser.get(browser.get(f"{root}/items/1/proof")["Location"])
    assert b"".join(proof.streaming_content).startswith(b"\x89PNG")
    file = browser.get(f"/print-files/{world.application.pk}/{orders[0]}/1")
    assert file.content.startswith(b"%PDF")


def test_owner_advances_a_demo_order_by_one_status_a_click(world, browser, orders):
    root = f"/applications/{world.application.pk}/orders/{orders[0]}"
    version = re.search(r'name="version" value="([^"]+)"', browser.get(root).content.decode())[1]
    version = html.unescape(version)

    for _ in range(2):
        response = browser.post(f"{root}/advance", {"version": version}, follow=True)

    order = Order.objects.get(pk=orders[0])
    assert order.status == OrderStatus.ACCEPTED
    assert OrderHistory.objects.filter(order=order).last().actor_kind == "Application"
    page = response.content.decode()
    assert ("Advance to “In production”" in page, "has changed since" in page) == (True, True)
    assert page.count("order.accepted") == 1


def test_only_owners_advance_and_only_what_is_not_produced(world, browser, signed_in, orders):
    body = order_body(Items=[{"ProductID": "plain", "Quantity": 100}])
    real = world.as_application().call("POST", "/store/associated/order", body).json()["OrderID"]
    root = f"/applications/{world.application.pk}/orders"
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Read")
    reader = signed_in(world.outsider)

    assert "Advance to" not in browser.get(f"{root}/{real}").content.decode()
    refused = browser.post(f"{root}/{real}/advance", {"version": "*"}, follow=True).content.decode()
    assert "Only test orders and orders of the demo store can be advanced." in refused
    assert browser.post(f"{root}/{orders[2]}/advance", {"version": "*"}).status_code == 404
    assert "Advance to" not in reader.get(f"{root}/{orders[1]}").content.decode()
    assert reader.post(f"{root}/{orders[1]}/advance", {"version": "*"}).status_code == 403
    assert set(Order.objects.values_list("status", flat=True)) == {OrderStatus.RECEIVED}


def test_orders_of_a_store_whose_association_ended_are_removed(world, browser):
    make_product(world.associated, "plain")
    body = order_body(Items=[{"ProductID": "plain", "Quantity": 100}])
    order = world.as_application().call("POST", "/store/associated/order", body).json()
    address = f"/applications/{world.application.pk}/orders/{order['OrderID']}"

    assert browser.get(address).status_code == 200
    Role.objects.filter(application=world.application, store=world.associated, user=None).delete()
    assert browser.get(address).status_code == 404


def test_orders_are_paged_with_few_queries(
    world, browser, orders, monkeypatch, django_assert_max_num_queries
):
    monkeypatch.setattr("stores.orders.pages.ORDERS_A_PAGE", 1)
    root = f"/applications/{world.application.pk}/orders"

    with django_assert_max_num_queries(11):
        first = browser.get(root).content.decode()
    newest = Order.objects.get(pk=orders[1])
    assert f"?before={newest.number}" in first
    second = browser.get(f"{root}?before={newest.number}").content.decode()
    assert "100 × " in first
    assert (str(newest.number) in second, "Newest" in second) == (False, True)
    assert browser.get(f"{root}?before=x&q=").status_code == 200


def test_proof_of_a_test_order_is_a_test_proof_and_goes_with_its_recipient(world, browser):
    make_card(world.associated, "card")
    application = add_test_application(world)
    order = order_body(Items=[{"ProductID": "card", "Quantity": 100, "TemplateData": card_data()}])
    client = world.as_application(application)
    placed = client.call("POST", "/store/associated/order", order).json()
    client.call("POST", "/store/associated/product/card/proof", card_data())
    before = set(Proof.objects.values_list("digest", flat=True))
    address = browser.get(f"/applications/{application.pk}/orders/{placed['OrderID']}/items/1/proof")[
        "Location"
    ]

    assert len(before) == 1
    assert set(Proof.objects.values_list("digest", flat=True)) == before
    assert b"".join(browser.get(address).streaming_content).startswith(b"\x89PNG")

    erase_recipient(order=Order.objects.get(pk=placed["OrderID"]), actor=Actor(ActorKind.SYSTEM), force=True)

    assert browser.get(address).status_code == 404


def test_proofs_of_all_orders_count_for_the_person_who_looks_at_them(world, browser, orders, monkeypatch):
    """Each application, and each user of one, was another caller in concurrency limits."""
    drawn = []

    def draw(*, caller, **_):
        drawn.append((caller.application_id, caller.user_id, caller.key))
        raise NotFound("There is none.")

    monkeypatch.setattr(pages, "make_proof", draw)
    for order in orders[:2]:
        browser.get(f"/applications/{world.application.pk}/orders/{order}/items/1/proof")

    person = f"user:{world.user.pk}"
    assert drawn == [(world.application.pk, person_id, person) for person_id in (None, world.outsider.pk)]
