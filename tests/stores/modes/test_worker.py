"""A real worker plays the outcomes of test orders."""

import time

import pytest

from stores.orders.models import OrderHistory
from tests.factories.orders import order_body
from tests.support.api.modes import add_test_application
from tests.support.orders.shop import build_shop
from tests.support.patience import PATIENCE, ROUNDS, wait_for
from tests.support.servers.workers import start_worker

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
        least = dict.fromkeys([*ENDS, "cancelled"], float("inf"))
        # The mark stands for a machine of its own: beside other tests one of several rounds must reach it.
        for _ in range(ROUNDS):
            seconds = _played(shop, client)
            least = {outcome: min(least[outcome], seconds[outcome]) for outcome in least}
            if max(least.values()) < SECONDS:
                break
    finally:
        worker.terminate()
        worker.wait(PATIENCE)
    assert {outcome: seconds for outcome, seconds in least.items() if seconds >= SECONDS} == {}


def _played(shop, client) -> dict[str, float]:
    """How long each outcome took, and a cancellation."""
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
    seconds = {"cancelled": time.monotonic() - requested}
    for outcome, status in ENDS.items():
        wait_for(lambda order=placed[outcome], status=status: status in _statuses(order))
        seconds[outcome] = _seconds(placed[outcome])
    assert refused.status_code == 202
    path = f"/store/associated/order/{placed['CancelRefused']['OrderID']}"
    wait_for(lambda: client.call("GET", path).json()["Cancellation"]["State"] == "Refused")
    statuses = {status for order in [*placed.values(), cancelled] for status in _statuses(order)}
    assert statuses == {10, 20, 30, 40, 50, 60, 70, 80, 90, 95}
    return seconds


def _statuses(order):
    return set(OrderHistory.objects.filter(order=order["OrderID"]).values_list("status", flat=True))


def _seconds(order):
    """From the order to its last step."""
    moments = OrderHistory.objects.filter(order=order["OrderID"]).order_by("sequence")
    first, last = moments.first(), moments.last()
    return (last.timestamp - first.timestamp).total_seconds()
