"""The routes of an order on a map of the console."""

import pytest
from django.urls import reverse

from accounts.models import Role
from delivery.datasets.models import Area
from delivery.datasets.selectors import live_dataset
from delivery.datasets.services.datasets import activate_dataset, rebuild_dataset
from delivery.datasets.services.demo import load_demo_population
from stores.orders.models import Order, OrderItem
from tests.factories.eddm import make_selection
from tests.factories.orders import make_product, order_body

ROUTES = [("84101", "C001", 240, "MAIN"), ("84102", "C001", 90, ""), ("84101", "C999", 60, "")]


@pytest.fixture
def item(shop) -> OrderItem:
    make_product(shop.world.associated, "mailer", IsEddm=True, MinimumQty=200, DefaultQty=200)
    selection = make_selection(ROUTES, application=shop.world.application, dataset=load_demo_population())
    items = [
        {"ProductID": "mailer", "EddmSelectionID": str(selection.pk)},
        {"ProductID": "card", "Quantity": 200},
    ]
    placed = shop.place(body=order_body(Items=items))
    return Order.objects.get(pk=placed.json()["OrderID"]).items.get(position=0)


def get(client, name: str, item: OrderItem, position: int = 0):
    return client.get(reverse(f"admin:stores_order_{name}", args=[item.order_id, position]))


def shapes(client, item: OrderItem) -> dict[str, tuple[int, bool]]:
    features = get(client, "eddm_shapes", item).json()["features"]
    return {
        feature["id"]: (feature["properties"]["Pieces"], feature["geometry"] is not None)
        for feature in features
    }


def test_map_has_the_routes_as_they_were_ordered(shop, client, item):
    client.force_login(shop.world.operator)

    page = get(client, "eddm_map", item).content.decode()

    assert "390 × Product mailer on 3 routes" in page
    assert "84101 C999" in page
    assert shapes(client, item) == {
        "84101C001": (240, True),
        "84102C001": (90, True),
        "84101C999": (60, False),
    }
    assert get(client, "eddm_map", item, 1).status_code == 404
    assert reverse("admin:stores_order_eddm_map", args=[item.order_id, 0]) in (
        client.get(reverse("admin:stores_order_change", args=[item.order_id])).content.decode()
    )


def test_places_of_a_data_set_that_is_gone_come_from_the_active_one(shop, client, item):
    client.force_login(shop.world.operator)
    first = live_dataset()
    second = rebuild_dataset(dataset_id=first.pk, route_types="CR", by="tests")
    Area.objects.filter(dataset=first).delete()
    assert not any(is_placed for _, is_placed in shapes(client, item).values())

    activate_dataset(dataset_id=second.pk, by="tests")

    assert shapes(client, item)["84101C001"] == (240, True)


def test_only_readers_of_the_orders_of_the_store_see_the_map(shop, client, item):
    client.force_login(shop.world.user)
    assert get(client, "eddm_shapes", item).status_code == 200

    Role.objects.filter(user=shop.world.user).update(store=shop.world.unassociated)

    for name in ("eddm_map", "eddm_shapes"):
        assert get(client, name, item).status_code == 404
