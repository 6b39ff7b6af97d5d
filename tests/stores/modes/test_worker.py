"""A real worker plays the outcomes of test orders."""

import time

import pytest

from stores.orders.models import OrderHistory
from tests.factories.orders import order_body
from tests.support.modes import add_test_application
from tests.support.order_helpers import build_shop
from tests.support.workers import start_worker, wait_for

ENDS = {"Rejected": 95, "OnHold": 20, "PartiallyShipped": 50, "Delivered": 70, "Returned": 80}
SECONDS = 5.0

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_every_status_is_reached_within_five_seconds():
    shop = build_shop()
    client = shop.world.as_application(add_test_application(shop.world))
    worker = start_worker()
    try:
        first = shop.place(client, order_body(Metadata={"TestOutcome": "Rejected"})).json()
        wait_for(lambda: 95 in _statuses(first))
        placed = {
            outcome: shop.place(client, order_body(Metadata={"TestOutcome": outcome})).json()
            for outcome in [*ENDS, "CancelRefused"]
        }
        cancelled = shop.place(client, order_body(Metadata={"TestOutcome": "Returned"})).json()
        refused = shop.act(placed["CancelRefused"], "cancel", client=client)
        wait_for(lambda: 40 in _statuses(cancelled))
        requested = time.monotonic()
        assert shop.act(cancelled, "cancel", client=client).status_code == 202
        wait_for(lambda: 90 in _statuses(cancelled))
        assert time.monotonic() - requested < SECONDS
        for outcome, status in ENDS.items():
            wait_for(lambda order=placed[outcome], status=status: status in _statuses(order))
            assert _seconds(placed[outcome]) < SECONDS, outcome
        assert refused.status_code == 202
        path = f"/store/associated/order/{placed['CancelRefused']['OrderID']}"
        wait_for(lambda: client.call("GET", path).json()["Cancellation"]["State"] == "Refused")
    finally:
        worker.terminate()
        worker.wait(20)
    seen = {status for order in [*placed.values(), cancelled] for status in _statuses(order)}
    assert seen == {10, 20, 30, 40, 50, 60, 70, 80, 90, 95}


def _statuses(order):
    return set(OrderHistory.objects.filter(order=order["OrderID"]).values_list("status", flat=True))


def _seconds(order):
    """From the order to its last step."""
    moments = OrderHistory.objects.filter(order=order["OrderID"]).order_by("sequence")
    first, last = moments.first(), moments.last()
    return (last.timestamp - first.timestamp).total_seconds()
