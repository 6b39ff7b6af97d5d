"""Who did what to an order: its history, and the trail that sees what goes past the services."""

import pytest
from django.apps import apps
from django.db import DatabaseError, transaction

from fulfillment.core.audit.personal_data import ERASED
from stores.orders.models import Order, OrderHistory, OrderItem, Shipment
from tests.factories.orders import RECIPIENT

PARCEL = {"Carrier": "UPS", "TrackingNumber": "1Z1"}


def trail(model):
    return apps.get_model("stores", f"{model}Event").objects.order_by("pk")


@pytest.fixture
def order(shop):
    return shop.place().json()


def test_placing_costs_no_trail_and_its_history_names_who(shop, order):
    entry = OrderHistory.objects.get()

    assert (entry.sequence, entry.previous_status, entry.actor_kind) == (1, None, "Application")
    assert Order.objects.get().application == shop.world.application
    assert [trail(name).count() for name in ("Order", "OrderItem", "Shipment")] == [0, 0, 0]


def test_every_move_is_in_the_trail_with_who_and_where(shop, order):
    for status, shipments in ((30, []), (40, []), (60, [PARCEL])):
        assert shop.act(order, "status", {"Status": status, "Shipments": shipments}).status_code == 200

    moves = list(trail("Order"))
    assert [move.status for move in moves] == [30, 40, 60]
    assert [move.sequence for move in moves] == [2, 3, 4]
    assert moves[-1].tracking_numbers == ["1Z1"]
    assert moves[-1].pgh_context.metadata == {
        "url": f"/api/v1/store/associated/order/{order['OrderID']}/status",
        "user": str(shop.world.user.pk),
        "application": str(shop.world.console.pk),
    }
    assert list(OrderHistory.objects.values_list("sequence", flat=True)) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (Order, {"total": "1.00", "items_total": "1.00"}),
        (Order, {"recipient": {**RECIPIENT, "Name": "Someone else"}}),
        (OrderItem, {"product_name": "Other"}),
        (OrderItem, {"template_data": {"Name": "Other"}}),
        (Shipment, {"carrier": "Other"}),
    ],
)
def test_change_past_the_services_is_in_the_trail(shop, order, model, change):
    for status in (30, 40):
        shop.act(order, "status", {"Status": status})
    shop.act(order, "status", {"Status": 60, "Shipments": [PARCEL]})
    before = trail(model.__name__).count()

    model.objects.update(**change)

    assert trail(model.__name__).count() == before + 1
    assert trail(model.__name__).last().pgh_label == "update"


def test_trail_keeps_nothing_of_the_recipient(shop, order):
    shop.act(order, "status", {"Status": 30})

    names = {
        field.name for name in ("Order", "OrderItem", "Shipment") for field in trail(name).model._meta.fields
    }
    assert names.isdisjoint({"recipient", "metadata", "rendering", "template_data", "tracking_url"})
    assert not {name for name in names if name.startswith("cancellation_") and name != "cancellation_asked"}
    assert RECIPIENT["Name"] not in str(list(trail("Order").values()))


@pytest.mark.parametrize(
    "change",
    [
        lambda history: history.update(status=90),
        lambda history: history.update(actor_kind="System"),
        lambda history: history.update(timestamp="2020-01-01T00:00:00Z"),
        lambda history: history.delete(),
    ],
)
def test_history_of_an_order_can_only_be_added_to(shop, order, change):
    with pytest.raises(DatabaseError, match=r"append_only: (UPDATE|DELETE)"), transaction.atomic():
        change(OrderHistory.objects.all())


def test_notes_can_be_erased_from_the_history(shop, order):
    OrderHistory.objects.update(note=ERASED)

    assert OrderHistory.objects.get().note == ERASED
