"""Moves of orders, one by one and called directly."""

from datetime import timedelta

import orjson
import pytest
from django.utils import timezone

from applications.webhooks.models import Event
from applications.webhooks.selectors.webhooks import event_record
from fulfillment.core.errors import Conflict, Invalid, PreconditionFailed
from stores.orders.models import ActorKind, CancellationState, Order, OrderHistory, OrderTally, Shipment
from stores.orders.models.status import ALLOWED_TRANSITIONS, CANCELLABLE_ON_REQUEST
from stores.orders.representations import order_etag, render_export_row
from stores.orders.services import changes, transitions
from stores.orders.services.cancellation import cancel_order, refuse_cancellation
from stores.orders.services.changes import Actor, check_match
from stores.orders.services.recipients import erase_recipient
from stores.orders.services.simulation import advance_demo_orders, advance_order
from stores.orders.services.transitions import MAX_SHIPMENTS, Parcel, transition_order

STORE = Actor(ActorKind.STORE)
UPS = Parcel("UPS", "1Z1", "https://ups.example/1Z1")


@pytest.fixture
def order(shop):
    return Order.objects.get(pk=shop.place().json()["OrderID"])


def at(order, status, **changes):
    Order.objects.filter(pk=order.pk).update(status=status, **changes)
    OrderTally.objects.update(status=status)
    return Order.objects.get(pk=order.pk)


def allowed_after(status):
    return {code.value for code in ALLOWED_TRANSITIONS[status]} - ({90} if status == 40 else set())


@pytest.mark.parametrize(
    ("status", "wanted"),
    [(status.value, wanted) for status in ALLOWED_TRANSITIONS for wanted in sorted(allowed_after(status))],
)
def test_move_that_the_table_allows_is_recorded(order, status, wanted):
    moved = transition_order(order=at(order, status), status=wanted, actor=STORE, note="because")

    entry = OrderHistory.objects.last()
    assert (moved.status, moved.sequence) == (wanted, 2)
    assert (entry.previous_status, entry.status, entry.sequence) == (status, wanted, 2)
    assert (entry.note, entry.actor_kind) == ("because", "Store")
    tallies = dict(OrderTally.objects.filter(orders__gt=0).values_list("status", "orders"))
    assert tallies == {wanted: 1}
    reported = Event.objects.last().data
    assert (reported["Status"], reported["PreviousStatus"], reported["Sequence"]) == (wanted, status, 2)


@pytest.mark.parametrize("status", [status.value for status in ALLOWED_TRANSITIONS])
def test_move_that_the_table_does_not_allow_changes_nothing(order, status):
    held, allowed = at(order, status), allowed_after(status)

    assert transition_order(order=held, status=status, actor=STORE).sequence == 1
    for wanted in {code.value for code in ALLOWED_TRANSITIONS} - allowed - {status}:
        with pytest.raises(Conflict) as refused:
            transition_order(order=held, status=wanted, actor=STORE)
        assert refused.value.code == "status_not_allowed"
        assert refused.value.members == {"Status": status, "Allowed": sorted(allowed)}
    assert OrderHistory.objects.count() == Order.objects.get().sequence == 1


def test_refused_move_names_what_can_follow(order):
    with pytest.raises(
        Conflict, match="Received and cannot become Shipped; allowed: 20 OnHold, 30 Accepted, "
    ):
        transition_order(order=order, status=60, actor=STORE)
    with pytest.raises(Conflict, match="allowed: nothing"):
        transition_order(order=at(order, 90), status=10, actor=STORE)
    with pytest.raises(Invalid, match="Status: 11 is not one of 10 Received") as unknown:
        transition_order(order=order, status=11, actor=STORE)
    assert (unknown.value.faults[0].pointer, unknown.value.faults[0].code) == ("/Status", "status_unknown")


def test_order_that_changed_very_often_is_put_on_hold_no_more_but_goes_on(order, monkeypatch):
    """Its history is read whole."""
    monkeypatch.setattr(transitions, "MAX_CHANGES", 3)
    for status in (20, 30):
        transition_order(order=order, status=status, actor=STORE)

    with pytest.raises(Conflict) as refused:
        transition_order(order=order, status=20, actor=STORE)

    assert refused.value.members["Allowed"] == [40, 90]
    transition_order(order=order, status=40, actor=STORE)
    assert Order.objects.get().status == 40


def test_order_in_production_is_cancelled_only_where_requested(order):
    held = at(order, 40, cancellation=CancellationState.REQUESTED, cancellation_asked=timezone.now())

    moved = transition_order(order=held, status=90, actor=STORE)

    assert (moved.status, moved.cancellation) == (90, CancellationState.ACCEPTED)


@pytest.mark.parametrize("status", [50, 60])
def test_shipping_refuses_a_requested_cancellation(order, status):
    held = at(order, 40, cancellation=CancellationState.REQUESTED, cancellation_asked=timezone.now())

    assert transition_order(order=held, status=status, actor=STORE).cancellation == CancellationState.REFUSED


def test_rejecting_accepts_a_requested_cancellation(order):
    requested = at(order, 10, cancellation="Requested", cancellation_asked=timezone.now())

    rejected = transition_order(order=requested, status=95, actor=STORE)

    assert rejected.cancellation == CancellationState.ACCEPTED
    Order.objects.update(cancellation="Requested")
    left_open = Order.objects.get()
    with pytest.raises(Conflict) as late:
        cancel_order(order=left_open, actor=STORE)
    with pytest.raises(Conflict) as unrequested:
        refuse_cancellation(order=left_open, actor=STORE)
    assert (late.value.code, unrequested.value.code) == (
        "order_not_cancellable",
        "cancellation_not_requested",
    )


def test_rejecting_without_a_requested_cancellation_mentions_none(order):
    assert transition_order(order=order, status=95, actor=STORE).cancellation == CancellationState.NONE


def test_parcels_are_added_once_and_rendered(order):
    held = at(order, 40)
    moved = transition_order(order=held, status=50, actor=STORE, parcels=[UPS, UPS])
    assert moved.tracking_numbers == ["1Z1"]
    again = transition_order(order=moved, status=50, actor=STORE, parcels=[UPS])
    assert again.sequence == 2
    more = transition_order(order=again, status=50, actor=STORE, parcels=[Parcel("DHL", "1Z1")])
    assert (more.sequence, more.tracking_numbers) == (3, ["1Z1", "1Z1"])
    stored = Order.objects.get()
    assert stored.rendering == render_export_row(stored, "associated")
    assert Shipment.objects.get(carrier="UPS").tracking_url == "https://ups.example/1Z1"
    assert Shipment.objects.filter(shipped__lte=timezone.now()).count() == 2


def test_item_that_a_parcel_names_twice_is_recorded_once(order):
    moved = at(order, 40)
    key = order.items.get().item_key

    transition_order(
        order=moved, status=60, actor=STORE, parcels=[Parcel("UPS", "1Z1", item_keys=(key, key))]
    )

    assert Shipment.objects.get().item_keys == [key]


def test_event_stays_small_and_names_the_latest_parcels(order):
    held = at(order, 40)
    address = "https://t.example/?" + "\U0001f4e6" * 980
    parcels = [Parcel("\U0001f4e6" * 60, f"{number:0>100}", address) for number in range(15)]
    moved = transition_order(order=held, status=50, actor=STORE, parcels=parcels)

    reported = Event.objects.last()
    assert 14_000 < len(orjson.dumps(event_record(reported))) < 20_000
    assert [parcel["TrackingNumber"] for parcel in reported.data["Shipments"]] == [
        parcel.tracking_number for parcel in parcels[-len(reported.data["Shipments"]) :]
    ]
    plain = [Parcel("UPS", str(number)) for number in range(MAX_SHIPMENTS - 15)]
    transition_order(order=moved, status=50, actor=STORE, parcels=plain)
    reported = Event.objects.last()
    assert len(orjson.dumps(event_record(reported))) < 20_000
    assert len(reported.data["Shipments"]) > 100


def test_wrong_parcels_are_refused_where_they_stand(order):
    with pytest.raises(Invalid, match="only with the statuses 50 and 60") as early:
        transition_order(order=order, status=30, actor=STORE, parcels=[UPS])
    assert (early.value.faults[0].pointer, early.value.faults[0].code) == (
        "/Shipments",
        "shipments_not_allowed",
    )
    held = at(order, 40)
    with pytest.raises(Invalid, match="no item 'x'") as unknown:
        transition_order(
            order=held, status=60, actor=STORE, parcels=[UPS, Parcel("UPS", "2", item_keys=("x",))]
        )
    assert unknown.value.faults[0].pointer == "/Shipments/1/ItemKeys"
    assert unknown.value.faults[0].code == "item_key_unknown"
    full = [Parcel("UPS", str(number)) for number in range(MAX_SHIPMENTS)]
    transition_order(order=held, status=50, actor=STORE, parcels=full)
    with pytest.raises(Invalid, match=f"at most {MAX_SHIPMENTS} an order") as many:
        transition_order(order=held, status=50, actor=STORE, parcels=[Parcel("UPS", "one more")])
    assert (many.value.code, many.value.faults[0].pointer) == ("too_many_shipments", "/Shipments")


@pytest.mark.parametrize("status", [status.value for status in ALLOWED_TRANSITIONS])
def test_cancelling_is_at_once_requested_or_too_late(order, status):
    held = at(order, status)
    if status == 90:
        assert cancel_order(order=held, actor=STORE).sequence == 1
        return
    if status not in CANCELLABLE_ON_REQUEST:
        with pytest.raises(Conflict, match=r"^The order is \w+: too late to cancel\.$") as late:
            cancel_order(order=held, actor=STORE)
        assert late.value.code == "order_not_cancellable"
        return
    cancelled = cancel_order(order=held, actor=STORE, reason="changed my mind")
    assert cancelled.cancellation_reason == "changed my mind"
    assert OrderHistory.objects.last().note == "changed my mind"
    assert cancelled.cancellation_asked <= timezone.now()
    if status == 40:
        assert (cancelled.status, cancelled.cancellation) == (40, CancellationState.REQUESTED)
        assert Event.objects.last().type == "order.cancellation_requested"
        assert cancel_order(order=cancelled, actor=STORE).sequence == 2
    else:
        assert (cancelled.status, cancelled.cancellation) == (90, CancellationState.ACCEPTED)
        assert Event.objects.last().type == "order.cancelled"


def test_cancellation_after_the_hold_window_is_requested_from_the_store(order):
    held = at(order, 30, cancellable_until=timezone.now() - timedelta(seconds=1))

    assert cancel_order(order=held, actor=STORE).cancellation == CancellationState.REQUESTED


def test_refusal_of_a_cancellation_is_final(order):
    with pytest.raises(Conflict, match=r"^No cancellation of this order was requested\.$") as unrequested:
        refuse_cancellation(order=order, actor=STORE)
    assert unrequested.value.code == "cancellation_not_requested"
    held = cancel_order(order=at(order, 40), actor=STORE)

    refused = refuse_cancellation(order=held, actor=STORE, note="In print")

    assert (refused.cancellation, refused.cancellation_note) == (CancellationState.REFUSED, "In print")
    assert OrderHistory.objects.last().note == "Cancellation refused. In print"
    assert refuse_cancellation(order=refused, actor=STORE).sequence == refused.sequence
    with pytest.raises(Conflict, match="has refused") as again:
        cancel_order(order=refused, actor=STORE)
    assert again.value.code == "cancellation_refused"


def test_version_is_matched_before_anything(order):
    tag = order_etag(order)
    for matching in ([], [tag], ['"x"', tag], ["*"]):
        assert check_match(order, matching) is None
    for act in (
        lambda: transition_order(order=order, status=30, actor=STORE, if_match=['"x"']),
        lambda: cancel_order(order=order, actor=STORE, if_match=['"x"']),
        lambda: refuse_cancellation(order=order, actor=STORE, if_match=['"x"']),
    ):
        with pytest.raises(PreconditionFailed, match="changed since"):
            act()
    assert transition_order(order=order, status=30, actor=STORE, if_match=[tag]).status == 30


@pytest.fixture
def demo_order(order, world):
    order.store.__class__.objects.filter(is_demo=True).update(is_demo=False)
    order.store.__class__.objects.filter(pk=order.store_id).update(is_demo=True)
    return Order.objects.select_related("store").get(pk=order.pk)


def test_demo_orders_advance(demo_order):
    statuses = []
    for _ in range(4):
        demo_order = advance_order(order=demo_order, actor=STORE)
        statuses.append(demo_order.status)
    assert statuses == [30, 40, 60, 70]
    assert demo_order.tracking_numbers == [f"DEMO{demo_order.number}"]
    assert OrderHistory.objects.last().note == "Simulated"
    with pytest.raises(Conflict, match="Delivered, which is its last status") as end:
        advance_order(order=demo_order, actor=STORE)
    assert end.value.code == "order_at_its_end"


def test_demo_order_that_is_to_be_cancelled_is(demo_order):
    Order.objects.update(status=40)
    requested = cancel_order(order=demo_order, actor=STORE)

    assert advance_order(order=requested, actor=STORE).status == 90


def test_order_of_another_store_is_not_advanced(order):
    with pytest.raises(
        Conflict, match=r"^Only test orders and orders of the demo store can be advanced\.$"
    ) as refused:
        advance_order(order=order, actor=STORE)
    assert refused.value.code == "not_demo_store"


def test_waiting_demo_orders_are_advanced_when_old_enough(demo_order):
    assert advance_demo_orders(older_than=timedelta(hours=1)) == 0
    Order.objects.update(updated=timezone.now() - timedelta(hours=2))
    assert advance_demo_orders(older_than=timedelta(hours=1)) == 1
    assert Order.objects.get().status == 30
    assert OrderHistory.objects.last().actor_kind == "System"


def test_demo_order_of_an_erased_recipient_holds_up_no_other(shop, demo_order):
    other = Order.objects.get(pk=shop.place().json()["OrderID"])
    erase_recipient(order=demo_order, actor=STORE, force=True)
    Order.objects.update(updated=timezone.now() - timedelta(hours=2))
    advance_demo_orders(older_than=timedelta(hours=1))
    assert Order.objects.get(pk=other.pk).status == 30


def test_only_orders_of_the_demo_store_that_can_continue_are_advanced(demo_order):
    Order.objects.update(updated=timezone.now() - timedelta(hours=2), status=70)
    assert advance_demo_orders(older_than=timedelta(hours=1)) == 0

    Order.objects.update(status=10)
    demo_order.store.__class__.objects.update(is_demo=False)
    assert advance_demo_orders(older_than=timedelta(hours=1)) == 0
    assert Order.objects.get().status == 10


def test_demo_order_that_changed_meanwhile_is_left_as_it_is(demo_order, monkeypatch):
    Order.objects.update(updated=timezone.now() - timedelta(hours=2))
    real = changes.lock_orders

    def somebody_was_first(**named):
        real(**named)
        Order.objects.update(status=20, sequence=2, updated=timezone.now())

    monkeypatch.setattr(changes, "lock_orders", somebody_was_first)

    assert advance_demo_orders(older_than=timedelta(hours=1)) == 1
    assert (Order.objects.get().status, OrderHistory.objects.count()) == (10, 1)


def test_advancing_keeps_to_the_version_and_says_who_carries(demo_order):
    with pytest.raises(PreconditionFailed):
        advance_order(order=demo_order, actor=STORE, if_match=['"x"'])
    Order.objects.update(status=40)

    advance_order(order=demo_order, actor=STORE)

    assert Shipment.objects.get().carrier == "Demo Carrier"


def test_note_on_a_cancellation_is_cut_to_the_length_of_a_history_entry(order):
    requested = cancel_order(order=at(order, 40), actor=STORE)
    assert (requested.cancellation_reason, OrderHistory.objects.last().note) == ("", "")

    refuse_cancellation(order=requested, actor=STORE, note="x" * 1000)

    assert OrderHistory.objects.last().note == f"Cancellation refused. {'x' * 1000}"[:1000]


def test_demo_order_cancelled_by_itself_says_so(demo_order):
    Order.objects.update(status=40)

    advance_order(order=cancel_order(order=demo_order, actor=STORE), actor=STORE)

    assert OrderHistory.objects.last().note == "Simulated"
