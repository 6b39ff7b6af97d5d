"""The outcomes of test orders, step by step; test_worker.py has them played by a real worker."""

import uuid

import pytest
from django.db.models import F
from django.utils import timezone

from stores.orders.models import Order, TestScenario
from stores.orders.services import simulation
from stores.orders.services.changes import Actor
from stores.orders.services.scenarios import STEP
from stores.orders.services.simulation import (
    LEASE,
    PATHS,
    advance_order,
    claim_due_scenarios,
    postpone_step,
    run_step,
)
from tests.factories.orders import order_body
from tests.support.api.modes import add_test_application

ENDS = {
    "Rejected": [10, 95],
    "OnHold": [10, 20],
    "PartiallyShipped": [10, 30, 40, 50],
    "Delivered": [10, 30, 40, 60, 70],
    "Returned": [10, 30, 40, 60, 70, 80],
    "CancelRefused": [10, 30, 40],
}


@pytest.fixture
def tester(shop):
    return shop.world.as_application(add_test_application(shop.world))


def begin(shop, client, outcome):
    response = shop.place(client, order_body(Metadata={"TestOutcome": outcome}))
    assert response.status_code == 201
    return response.json()


def play(order, steps=10):
    """As many steps as there are, without waiting for them."""
    for _ in range(steps):
        TestScenario.objects.filter(due__isnull=False).update(due=timezone.now())
        if not run_step(order_id=order["OrderID"]):
            return


def statuses(client, order):
    history = client.call("GET", f"/store/associated/order/{order['OrderID']}/history").json()
    return [entry["Status"] for entry in history]


@pytest.mark.parametrize("outcome", ENDS)
def test_each_outcome_is_reached_by_its_path(shop, tester, outcome):
    order = begin(shop, tester, outcome)
    assert claim_due_scenarios(limit=9) == []

    play(order)

    assert statuses(tester, order) == ENDS[outcome]
    waits = outcome == "CancelRefused"
    assert TestScenario.objects.filter(due__isnull=True).exists() == waits
    shown = tester.call("GET", f"/store/associated/order/{order['OrderID']}").json()
    assert bool(shown["Shipments"]) == bool({50, 60} & set(ENDS[outcome]))


def test_every_path_is_over_within_five_seconds():
    assert all((len(path) + 1) * STEP.total_seconds() <= 4 for path in PATHS.values())


def test_live_order_has_no_scenario(shop):
    begin(shop, shop.world.as_application(), "Rejected")

    assert not TestScenario.objects.exists()


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_cancellation_is_refused_at_every_step(shop, tester, steps):
    order = begin(shop, tester, "CancelRefused")
    play(order, steps)

    requested = shop.act(order, "cancel", client=tester)
    play(order)

    assert (requested.status_code, requested.json()["Cancellation"]["State"]) == (202, "Requested")
    shown = tester.call("GET", f"/store/associated/order/{order['OrderID']}").json()
    assert (shown["Cancellation"]["State"], shown["Status"]) == ("Refused", 40)
    assert not TestScenario.objects.exists()
    assert shop.act(order, "cancel", client=tester).json()["Code"] == "cancellation_refused"


def test_cancellation_within_production_is_accepted_by_other_scenarios(shop, tester):
    order = begin(shop, tester, "Delivered")
    play(order, 2)
    assert shop.act(order, "cancel", client=tester).status_code == 202

    play(order)

    assert statuses(tester, order)[-1] == 90
    assert not TestScenario.objects.exists()


def test_scenario_continues_from_where_it_was_advanced_and_ends_elsewhere(shop, tester):
    advanced, moved = (begin(shop, tester, "Returned") for _ in range(2))
    shop.act(advanced, "advance", client=tester)
    play(advanced)
    shop.act(moved, "status", {"Status": 20})
    play(moved)

    assert statuses(tester, advanced) == ENDS["Returned"]
    assert statuses(tester, moved) == [10, 20]
    assert not TestScenario.objects.exists()


def test_step_of_a_test_outcome_is_claimed_once(shop, tester):
    order = begin(shop, tester, "Returned")
    TestScenario.objects.update(due=timezone.now())

    claims = [claim_due_scenarios(limit=9) for _ in range(3)]

    assert claims == [[uuid.UUID(order["OrderID"])], [], []]


def test_step_of_a_killed_worker_is_due_again_after_the_lease(shop, tester):
    order = begin(shop, tester, "Returned")
    TestScenario.objects.update(due=timezone.now())
    claim_due_scenarios(limit=9)
    TestScenario.objects.update(due=F("due") - LEASE)

    assert claim_due_scenarios(limit=9) == [uuid.UUID(order["OrderID"])]
    assert claim_due_scenarios(limit=9, under_way=[uuid.UUID(order["OrderID"])]) == []


def test_step_that_fails_is_put_off(shop, tester, monkeypatch):
    order = begin(shop, tester, "Returned")
    TestScenario.objects.update(due=timezone.now())
    monkeypatch.setattr(simulation, "_take_step", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_step(order_id=order["OrderID"])

    postpone_step(order_id=order["OrderID"])

    assert claim_due_scenarios(limit=9) == []
    assert Order.objects.get().status == 10


def test_store_staff_may_advance_a_test_order(shop, tester):
    order = begin(shop, tester, "OnHold")
    locked = Order.objects.select_related("store").get(pk=order["OrderID"])

    assert advance_order(order=locked, actor=Actor("Store")).status == 30
