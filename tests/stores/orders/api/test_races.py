"""Equal requests at once, over real connections."""

import threading
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.utils import timezone

from accounts.callers import Caller
from accounts.models import Notification, RequestLease, Role
from accounts.services.idempotency import LEASE_SECONDS
from applications.webhooks.models import Event
from stores.catalog.models import Store
from stores.orders.api import orders
from stores.orders.models import ApprovalRequest, Order, OrderHistory, OrderTally
from stores.orders.request_bodies import read_order_request
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.services.approvals import expire_requests
from stores.orders.services.own_orders import place_own_order
from tests.factories.orders import make_product, order_body
from tests.support.at_once import at_once
from tests.support.patience import PATIENCE
from tests.support.scenario import build_world

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
MANY = 20


@pytest.fixture
def world():
    built = build_world()
    make_product(built.associated)
    return built


def placing(world, body, **extra):
    client = world.as_application()
    return lambda: client.call("POST", "/store/associated/order", body, **extra)


def test_one_idempotency_key_makes_one_order(world):
    body = order_body()
    answers = at_once(*[placing(world, body, HTTP_IDEMPOTENCY_KEY="k-1") for _ in range(MANY)])

    assert Order.objects.count() == Event.objects.count() == 1
    created = [a for a in answers if a.status_code == 201]
    refused = [a for a in answers if a.status_code == 409]
    assert len(created) + len(refused) == MANY
    assert {a.content for a in created} == {created[0].content}
    assert sum("Idempotent-Replayed" not in a for a in created) == 1
    assert all((a.json()["Code"], a["Retry-After"]) == ("request_in_progress", "1") for a in refused)


def test_form_of_a_page_sent_many_times_at_once_makes_one_order(world):
    Role.objects.create(user=world.outsider, store=world.associated, grant="Order.Self.Write")
    access = authorize_store(Caller.on_pages(world.outsider), "associated", WRITE)
    request = read_order_request(order_body())

    orders = at_once(
        *[partial(place_own_order, access=access, request=request, form="one") for _ in range(MANY)]
    )

    assert {order.pk for order, _ in orders} == {Order.objects.get().pk}


def test_equal_request_is_refused_without_work_while_the_first_is_prepared(world, monkeypatch):
    prepare, begun, going_on, prepared = orders.prepare_order, threading.Event(), threading.Event(), []

    def wait_and_prepare(**arguments):
        prepared.append(arguments)
        begun.set()
        assert going_on.wait(PATIENCE)
        return prepare(**arguments)

    monkeypatch.setattr(orders, "prepare_order", wait_and_prepare)
    place = placing(world, order_body(ExternalID="PO-1"), HTTP_IDEMPOTENCY_KEY="k-1")

    def place_meanwhile():
        assert begun.wait(PATIENCE)
        try:
            return place()
        finally:
            going_on.set()

    first, meanwhile = at_once(place, place_meanwhile)
    later = place()

    assert (meanwhile.status_code, meanwhile.json()["Code"]) == (409, "request_in_progress")
    assert meanwhile["Retry-After"] == "1"
    assert (first.status_code, later.content, later["Idempotent-Replayed"]) == (201, first.content, "true")
    assert (len(prepared), Order.objects.count()) == (1, 1)
    assert not RequestLease.objects.exists()


def test_request_whose_connection_died_holds_its_key_for_seconds(world, monkeypatch):
    """As when a process is killed: nothing releases the key, and the lease ends."""
    prepare = orders.prepare_order

    def lose_the_connection(**arguments):
        assert RequestLease.objects.count() == 1
        connection.connection.close()
        return prepare(**arguments)

    place = placing(world, order_body(), HTTP_IDEMPOTENCY_KEY="k-1")
    monkeypatch.setattr(orders, "prepare_order", lose_the_connection)
    lost = place()
    monkeypatch.undo()
    connection.close()

    assert lost.status_code >= 500
    refused = place()
    assert (refused.status_code, refused["Retry-After"]) == (409, "1")
    seconds_left = RequestLease.objects.get().until - timezone.now()
    assert seconds_left <= timedelta(seconds=LEASE_SECONDS)
    RequestLease.objects.update(until=timezone.now())
    assert place().status_code == 201
    assert not RequestLease.objects.exists()


def test_work_beyond_its_lease_takes_effect_once(world, monkeypatch):
    prepare, meanwhile = orders.prepare_order, []

    def outlast_the_lease(**arguments):
        monkeypatch.undo()
        RequestLease.objects.update(until=timezone.now())
        meanwhile.append(place())
        return prepare(**arguments)

    place = placing(world, order_body(), HTTP_IDEMPOTENCY_KEY="k-1")
    monkeypatch.setattr(orders, "prepare_order", outlast_the_lease)
    late = place()

    assert meanwhile[0].status_code == 201
    assert (late.content, late["Idempotent-Replayed"]) == (meanwhile[0].content, "true")
    assert Order.objects.count() == 1


def test_late_request_does_not_release_the_lease_of_the_next(world, monkeypatch):
    prepare, of_the_next = orders.prepare_order, timezone.now() + timedelta(minutes=1)

    def lose_the_lease(**arguments):
        RequestLease.objects.update(until=of_the_next)
        return prepare(**arguments)

    monkeypatch.setattr(orders, "prepare_order", lose_the_lease)
    assert placing(world, order_body(), HTTP_IDEMPOTENCY_KEY="k-1")().status_code == 201

    assert RequestLease.objects.get().until == of_the_next


def test_one_external_id_makes_one_order(world):
    answers = at_once(*[placing(world, order_body(ExternalID="PO-1")) for _ in range(MANY)])

    order = Order.objects.get()
    codes = sorted(a.status_code for a in answers)
    assert codes == [201] + [409] * (MANY - 1)
    assert {a.json()["OrderID"] for a in answers} == {str(order.pk)}


def test_orders_at_once_are_each_numbered_and_counted_once(world):
    at_once(*[placing(world, order_body()) for _ in range(MANY)])

    assert len(set(Order.objects.values_list("number", flat=True))) == MANY
    assert OrderTally.objects.get().orders == MANY


@pytest.mark.parametrize("number", range(3))
def test_status_and_cancel_at_once_end_in_one_of_both(world, number):
    order = placing(world, order_body())().json()
    path = f"/store/associated/order/{order['OrderID']}"
    staff, buyer = world.as_user(world.user), world.as_application()
    staff.call("POST", f"{path}/status", {"Status": 30})

    moved, cancelled = at_once(
        lambda: staff.call("POST", f"{path}/status", {"Status": 40}),
        lambda: buyer.call("POST", f"{path}/cancel"),
    )

    placed = Order.objects.get()
    if moved.status_code == 200:
        assert (placed.status, placed.cancellation, cancelled.status_code) == (40, "Requested", 202)
    else:
        assert (moved.status_code, placed.status, cancelled.status_code) == (409, 90, 200)
    sequences = list(OrderHistory.objects.order_by("sequence").values_list("sequence", flat=True))
    assert sequences == list(range(1, placed.sequence + 1))


def test_two_writers_with_one_etag_cannot_both_win(world):
    placed = placing(world, order_body())()
    path = f"/store/associated/order/{placed.json()['OrderID']}/status"

    def moving(status):
        staff = world.as_user(world.user)
        return lambda: staff.call("POST", path, {"Status": status}, HTTP_IF_MATCH=placed["ETag"])

    answers = at_once(moving(20), moving(30), moving(95))

    assert sorted(a.status_code for a in answers) == [200, 412, 412]


def test_one_of_many_decisions_at_once_wins(world):
    """Approvals, denials and the end of the time in the same second."""
    Store.objects.filter(pk=world.associated.pk).update(approval_above=0)
    order = placing(world, order_body())().json()
    request = ApprovalRequest.objects.get()
    # Read before the threads start: both credentials are issued by a write.
    approvers = [world.as_operator() for _ in range(MANY)]
    address = f"/store/associated/order/{order['OrderID']}"
    calls = [
        partial(client.call, "POST", f"{address}/approve")
        if number % 3 == 0
        else partial(client.call, "POST", f"{address}/deny", {"Reason": "No."})
        if number % 3 == 1
        else partial(expire_requests, now=request.expires)
        for number, client in enumerate(approvers)
    ]
    answers = at_once(*calls)

    won = [a for a in answers if a == 1 or getattr(a, "status_code", 0) == 200]
    lost = [a for a in answers if a == 0 or getattr(a, "status_code", 0) == 409]
    state = Order.objects.get().approval
    types = list(Event.objects.values_list("type", flat=True))
    decisions = {"Approved": ["order.approved"], "Denied": ["order.denied", "order.rejected"]}
    assert (len(won), len(lost)) == (1, MANY - 1)
    assert types[2:] == decisions.get(state, ["order.rejected"])
    assert Notification.objects.filter(kind="approval_decided").count() == 1
