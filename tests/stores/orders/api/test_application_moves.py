"""Print houses with developers of their own: applications that move the orders of a store."""

import pytest

from accounts.models import Role
from stores.orders.models import ActorKind, OrderHistory
from tests.factories.orders import make_product
from tests.support.api.modes import add_test_application

PARCEL = {"Carrier": "UPS", "TrackingNumber": "1Z1"}


@pytest.fixture
def house(shop):
    """An application that may move orders of the associated store."""
    Role.objects.create(application=shop.world.application, store=shop.store, grant="Order.All.Write")
    return shop.world.as_application()


def test_application_with_the_grant_takes_an_order_to_shipped(shop, house):
    order = shop.place(client=shop.world.as_user(shop.world.user)).json()

    moved = [shop.act(order, "status", {"Status": status}, client=house) for status in (30, 40)]
    shipped = shop.act(order, "status", {"Status": 60, "Shipments": [PARCEL]}, client=house)

    assert [response.status_code for response in moved] == [200, 200]
    assert (shipped.status_code, shipped.json()["StatusName"]) == (200, "Shipped")
    kinds = set(OrderHistory.objects.filter(status__gte=30).values_list("actor_kind", flat=True))
    assert kinds == {ActorKind.APPLICATION}


def test_application_without_the_grant_moves_none(shop):
    order = shop.place().json()

    refused = shop.act(order, "status", {"Status": 30}, client=shop.world.as_application())

    assert (refused.status_code, refused.json()["Code"]) == (403, "grant_missing")


def test_order_of_another_store_does_not_exist_for_the_application(shop, house):
    make_product(shop.world.demo)
    other = shop.place(store="demo").json()

    named = shop.act(other, "status", {"Status": 30}, client=house)
    through = shop.act(other, "status", {"Status": 30}, client=house, store="demo")

    assert (named.status_code, named.json()["Code"]) == (404, "order_not_found")
    assert (through.status_code, through.json()["Code"]) == (403, "grant_missing")


def test_test_orders_are_moved_by_test_credentials_alone(shop, house):
    twin = shop.world.as_application(add_test_application(shop.world))
    test_order = shop.place(client=twin).json()
    live_order = shop.place().json()

    crossed = [
        shop.act(test_order, "status", {"Status": 30}, client=house),
        shop.act(live_order, "status", {"Status": 30}, client=twin),
    ]
    moved = shop.act(test_order, "status", {"Status": 30}, client=twin)

    assert [response.status_code for response in crossed] == [404, 404]
    assert moved.status_code == 200


def test_application_cannot_jump_where_staff_may_not(shop, house):
    order = shop.place().json()

    jumps = [shop.act(order, "status", {"Status": status}, client=house) for status in (40, 60, 70)]
    refusal = shop.act(order, "cancel/refuse", client=house)

    assert [response.json()["Code"] for response in jumps] == ["status_not_allowed"] * 3
    assert (refusal.status_code, refusal.json()["Code"]) == (403, "closed_to_applications")
