from datetime import timedelta

import pytest
from django.utils import timezone

from applications.webhooks.models import Event
from stores.orders.models import Order, OrderStatus
from stores.tasks import advance_orders
from tests.factories.orders import make_product, order_body

PARCEL = {"Carrier": "UPS", "TrackingNumber": "1Z1"}


def move(shop, order, *statuses):
    for status in statuses:
        assert shop.act(order, "status", {"Status": status}).status_code == 200


def close_window():
    Order.objects.update(cancellable_until=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("statuses", [(), (20,), (30,)])
def test_cancel_within_the_window_is_done_at_once(shop, statuses):
    order = shop.place().json()
    move(shop, order, *statuses)

    first = shop.act(order, "cancel", {"Reason": "Twice"}, client=shop.world.as_application())
    again = shop.act(order, "cancel", client=shop.world.as_application())

    assert (first.status_code, first.json()["StatusName"]) == (200, "Cancelled")
    assert first.json()["Cancellation"]["State"] == "Accepted"
    assert (again.status_code, again.json()) == (200, first.json())


@pytest.mark.parametrize("statuses", [(), (30,), (30, 40)])
def test_cancellation_after_the_window_is_requested_from_the_store(shop, statuses):
    order = shop.place().json()
    move(shop, order, *statuses)
    close_window()

    requested = shop.act(order, "cancel", {"Reason": "Twice"}, client=shop.world.as_application())
    again = shop.act(order, "cancel", client=shop.world.as_application())
    accepted = shop.act(order, "status", {"Status": 90})

    assert (requested.status_code, requested.json()["Cancellation"]["State"]) == (202, "Requested")
    assert again.status_code == 202
    assert (accepted.status_code, accepted.json()["Cancellation"]["State"]) == (200, "Accepted")
    reported = list(Event.objects.order_by("pk").values_list("type", flat=True))[-2:]
    assert reported == ["order.cancellation_requested", "order.cancelled"]


def test_rejecting_closes_a_cancellation_requested(shop):
    order = shop.place().json()
    close_window()
    requested = shop.act(order, "cancel", client=shop.world.as_application())

    rejected = shop.act(order, "status", {"Status": 95})
    cancelled = shop.act(order, "cancel", client=shop.world.as_application())
    refused = shop.act(order, "cancel/refuse")

    assert (requested.status_code, rejected.json()["Cancellation"]["State"]) == (202, "Accepted")
    assert (cancelled.status_code, cancelled.json()["Code"]) == (409, "order_not_cancellable")
    assert (refused.status_code, refused.json()["Code"]) == (409, "cancellation_not_requested")


def test_cancellation_left_open_on_a_rejected_order_is_over(shop):
    """As orders were that were rejected before this closed it."""
    order = shop.place().json()
    Order.objects.update(status=95, cancellation="Requested")

    cancelled = shop.act(order, "cancel", client=shop.world.as_application())
    refused = shop.act(order, "cancel/refuse")

    assert (cancelled.status_code, cancelled.json()["Code"]) == (409, "order_not_cancellable")
    assert (refused.status_code, refused.json()["Code"]) == (409, "cancellation_not_requested")


def test_store_refuses_to_cancel(shop):
    order = shop.place().json()
    move(shop, order, 30, 40)
    requested = shop.act(order, "cancel", client=shop.world.as_application())
    refused = shop.act(order, "cancel/refuse", {"Note": "On the press."})
    again = shop.act(order, "cancel", client=shop.world.as_application())

    assert requested.status_code == 202
    assert refused.json()["Cancellation"] == {
        **requested.json()["Cancellation"],
        "State": "Refused",
        "Note": "On the press.",
    }
    assert (again.status_code, again.json()["Code"]) == (409, "cancellation_refused")


def test_production_is_not_cancelled_unrequested(shop):
    order = shop.place().json()
    move(shop, order, 30, 40)

    refused = shop.act(order, "status", {"Status": 90}).json()

    assert (refused["status"], refused["Code"], refused["Allowed"]) == (
        409,
        "status_not_allowed",
        [20, 50, 60],
    )


def test_shipped_order_is_not_cancelled(shop):
    order = shop.place().json()
    move(shop, order, 30, 40, 60)

    refused = shop.act(order, "cancel", client=shop.world.as_application())

    assert (refused.status_code, refused.json()["Code"]) == (409, "order_not_cancellable")


def test_shipments_are_recorded_once_and_history_lists_all(shop):
    order = shop.place().json()
    move(shop, order, 30, 40)
    shop.act(order, "status", {"Status": 50, "Shipments": [PARCEL], "Note": "First box"})
    same = shop.act(order, "status", {"Status": 50, "Shipments": [PARCEL]}).json()
    second = {**PARCEL, "TrackingNumber": "1Z2", "TrackingURL": "https://ups.example/1Z2", "ItemKeys": ["1"]}
    shop.act(order, "status", {"Status": 60, "Shipments": [PARCEL, second]})

    path = f"/store/associated/order/{order['OrderID']}"
    shown = shop.world.as_application().call("GET", path).json()
    history = shop.world.as_application().call("GET", f"{path}/history").json()

    assert same["Sequence"] == 4
    assert [parcel["TrackingNumber"] for parcel in shown["Shipments"]] == ["1Z1", "1Z2"]
    assert [(h["Sequence"], h["PreviousStatus"], h["Status"], h["ActorKind"]) for h in history] == [
        (1, None, 10, "Application"),
        (2, 10, 30, "Store"),
        (3, 30, 40, "Store"),
        (4, 40, 50, "Store"),
        (5, 50, 60, "Store"),
    ]
    assert history[3]["Note"] == "First box"


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({"Status": 31}, "/Status", "status_unknown"),
        ({"Status": "30"}, "/Status", "invalid"),
        ({}, "/Status", "required"),
        ({"Status": 30, "Shipments": [PARCEL]}, "/Shipments", "shipments_not_allowed"),
        (
            {"Status": 60, "Shipments": [{**PARCEL, "ItemKeys": ["9"]}]},
            "/Shipments/0/ItemKeys",
            "item_key_unknown",
        ),
        ({"Status": 60, "Shipments": [{"Carrier": "UPS"}]}, "/Shipments/0/TrackingNumber", "required"),
    ],
)
def test_status_refusal_points_at_the_fault(shop, body, pointer, code):
    order = shop.place().json()
    move(shop, order, 30, 40)

    response = shop.act(order, "status", body)

    assert [(e["Pointer"], e["Code"]) for e in response.json()["Errors"]] == [(pointer, code)]


@pytest.mark.parametrize(
    "address",
    [
        "https://t.example/\U0001f4e6",
        "https://p\xe4ckchen.example/1",
        "ftp://t.example/1",
        "javascript:alert(1)",
        "1",
    ],
)
def test_address_of_a_parcel_is_plain_http(shop, address):
    order = shop.place().json()
    move(shop, order, 30, 40)

    refused = shop.act(order, "status", {"Status": 60, "Shipments": [{**PARCEL, "TrackingURL": address}]})

    [error] = refused.json()["Errors"]
    assert (refused.status_code, error["Pointer"]) == (400, "/Shipments/0/TrackingURL")
    assert "http or https address in ASCII" in error["Message"]


def test_demo_order_is_advanced_to_its_end_with_real_events(shop):
    make_product(shop.world.demo)
    client = shop.world.as_application(shop.world.other_application)
    order = shop.place(client, store="demo").json()

    steps = [shop.act(order, "advance", client=client, store="demo").json() for _ in range(5)]

    assert [step.get("StatusName") for step in steps[:4]] == [
        "Accepted",
        "InProduction",
        "Shipped",
        "Delivered",
    ]
    assert steps[2]["Shipments"][0]["Carrier"] == "Demo Carrier"
    assert steps[4]["Code"] == "order_at_its_end"
    assert Event.objects.filter(application=shop.world.other_application).count() == 5
    own = shop.place().json()
    assert shop.act(own, "advance").json()["Code"] == "not_demo_store"


@pytest.mark.parametrize(("seconds", "moved"), [(60, True), (600, False), (0, False)])
def test_demo_orders_advance_by_themselves_after_the_interval_of_the_setting(shop, settings, seconds, moved):
    settings.DEMO_ADVANCE_SECONDS = seconds
    make_product(shop.world.demo)
    client = shop.world.as_application(shop.world.other_application)
    shop.place(client, store="demo")
    Order.objects.update(updated=timezone.now() - timedelta(seconds=100))

    advance_orders(timestamp=0)

    expected = OrderStatus.ACCEPTED if moved else OrderStatus.RECEIVED
    assert Order.objects.get().status == expected


def test_only_operators_set_statuses_in_the_demo_store(shop):
    make_product(shop.world.demo)
    order = shop.place(shop.world.as_user(shop.world.user), order_body(), store="demo").json()
    body = {"Status": 30}

    refused = shop.act(order, "status", body, store="demo")
    response = shop.act(order, "status", body, client=shop.world.as_operator(), store="demo")

    assert (refused.status_code, response.status_code) == (403, 200)
