"""Equal requests at once, over real connections."""

import threading

import pytest
from django.db import connection

from applications.models import Event
from stores.models import Order, OrderHistory, OrderTally
from tests.factories.orders import make_product, order_body
from tests.world import build_world

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 20


@pytest.fixture
def world():
    built = build_world()
    make_product(built.associated)
    return built


def at_once(*calls):
    """Runs all calls as nearly at the same time as threads can."""
    start, answers = threading.Barrier(len(calls)), [None] * len(calls)

    def run(number, call):
        try:
            start.wait()
            answers[number] = call()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def placing(world, body, **extra):
    client = world.as_application()
    return lambda: client.call("POST", "/store/associated/order", body, **extra)


def test_one_idempotency_key_makes_one_order(world):
    body = order_body()
    answers = at_once(*[placing(world, body, HTTP_IDEMPOTENCY_KEY="k-1") for _ in range(MANY)])

    assert Order.objects.count() == Event.objects.count() == 1
    made = [a for a in answers if a.status_code == 201]
    refused = [a for a in answers if a.status_code == 409]
    assert len(made) + len(refused) == MANY
    assert {a.content for a in made} == {made[0].content}
    assert sum("Idempotent-Replayed" not in a for a in made) == 1
    assert all((a.json()["Code"], a["Retry-After"]) == ("request_in_progress", "1") for a in refused)


def test_one_external_id_makes_one_order(world):
    answers = at_once(*[placing(world, order_body(ExternalID="PO-1")) for _ in range(MANY)])

    order = Order.objects.get()
    codes = sorted(a.status_code for a in answers)
    assert codes == [201] + [409] * (MANY - 1)
    assert {a.json()["OrderID"] for a in answers} == {str(order.pk)}


def test_orders_at_once_are_placed_without_gaps_in_the_order_of_their_time(world):
    at_once(*[placing(world, order_body()) for _ in range(MANY)])

    rows = list(Order.objects.order_by("created").values_list("position", flat=True))
    assert rows == list(range(1, MANY + 1))
    assert OrderTally.objects.get().orders == MANY


@pytest.mark.parametrize("number", range(3))
def test_status_and_cancel_at_once_end_in_one_of_both(world, number):
    order = placing(world, order_body())().json()
    path = f"/store/associated/order/{order['OrderID']}"
    staff, buyer = world.as_user(world.user), world.as_application()
    for status in (30,):
        staff.call("POST", f"{path}/status", {"Status": status})

    moved, cancelled = at_once(
        lambda: staff.call("POST", f"{path}/status", {"Status": 40}),
        lambda: buyer.call("POST", f"{path}/cancel"),
    )

    kept = Order.objects.get()
    if moved.status_code == 200:
        assert (kept.status, kept.cancellation, cancelled.status_code) == (40, "Requested", 202)
    else:
        assert (moved.status_code, kept.status, cancelled.status_code) == (409, 90, 200)
    sequences = list(OrderHistory.objects.order_by("sequence").values_list("sequence", flat=True))
    assert sequences == list(range(1, kept.sequence + 1))


def test_two_writers_with_one_etag_cannot_both_win(world):
    placed = placing(world, order_body())()
    path = f"/store/associated/order/{placed.json()['OrderID']}/status"

    def moving(status):
        staff = world.as_user(world.user)
        return lambda: staff.call("POST", path, {"Status": status}, HTTP_IF_MATCH=placed["ETag"])

    answers = at_once(moving(20), moving(30), moving(95))

    assert sorted(a.status_code for a in answers) == [200, 412, 412]
