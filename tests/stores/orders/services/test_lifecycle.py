"""The life of an order against a plain model: every move tried, legal or not."""

from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from accounts.callers import Caller
from applications.webhooks.models import Event
from fulfillment.core.errors import DomainError
from stores.orders.models import ActorKind, Order, OrderStatus
from stores.orders.representations import render_export_row
from stores.orders.requests import OrderRequest, PriceRequest, PriceRequestItem
from stores.orders.selectors.access import StoreAccess
from stores.orders.services.cancellation import cancel_order, refuse_cancellation
from stores.orders.services.changes import Actor
from stores.orders.services.orders import create_order, prepare_order
from stores.orders.services.transitions import Parcel, transition_order
from tests.factories.orders import RECIPIENT

ALLOWED = {
    10: {20, 30, 90, 95},
    20: {10, 30, 90, 95},
    30: {20, 40, 90},
    40: {20, 50, 60, 90},
    50: {60},
    60: {70, 80},
    70: {80},
    80: set(),
    90: set(),
    95: set(),
}
STORE = Actor(ActorKind.STORE)
BUYER = Actor(ActorKind.APPLICATION)


def place_order(world, store):
    caller = Caller(application_id=world.application.pk)
    request = OrderRequest(
        price_request=PriceRequest((PriceRequestItem("1", "card", 100),), "US"),
        recipient=RECIPIENT,
        template_data=[None],
    )
    access = StoreAccess(store, caller, sees_all_orders=False)
    return create_order(prepared=prepare_order(access=access, request=request), actor=BUYER).order


def machine(world, store):  # noqa: C901 - one small method for each thing that can happen
    class OrderLife(RuleBasedStateMachine):
        @initialize(in_window=st.booleans())
        def place(self, in_window):
            self.order = place_order(world, store)
            if not in_window:
                Order.objects.filter(pk=self.order.pk).update(
                    cancellable_until=timezone.now() - timedelta(minutes=1)
                )
            self.in_window, self.status, self.cancellation = in_window, 10, ""
            self.statuses, self.parcels = [10], 0

        def attempt(self, act, *, legal, **arguments):
            with nullcontext() if legal else pytest.raises(DomainError):
                act(order=self.order, **arguments)
            return legal

        @rule(status=st.sampled_from(OrderStatus.values), with_parcel=st.booleans())
        def move(self, status, with_parcel):
            parcels = [Parcel("UPS", f"T{self.parcels}")] if with_parcel else []
            legal = status == self.status or status in ALLOWED[self.status]
            if (self.status, status) == (40, 90) and self.cancellation != "Requested":
                legal = False
            if parcels and status not in {50, 60}:
                legal = False
            if not self.attempt(transition_order, legal=legal, status=status, actor=STORE, parcels=parcels):
                return
            if status != self.status or parcels:
                self.statuses.append(status)
            self.parcels += len(parcels)
            if self.cancellation == "Requested" and status in {50, 60, 90, 95}:
                self.cancellation = "Accepted" if status in {90, 95} else "Refused"
            self.status = status

        @rule()
        def cancel(self):
            changes_nothing = self.status == 90 or self.cancellation == "Requested"
            assert not (changes_nothing and self.status == 95)
            legal = changes_nothing or (self.status in {10, 20, 30, 40} and self.cancellation != "Refused")
            if not self.attempt(cancel_order, legal=legal, actor=BUYER) or changes_nothing:
                return
            at_once = self.in_window and self.status != 40
            self.cancellation = "Accepted" if at_once else "Requested"
            self.status = 90 if at_once else self.status
            self.statuses.append(self.status)

        @rule()
        def refuse(self):
            legal = self.cancellation in {"Requested", "Refused"}
            if (
                self.attempt(refuse_cancellation, legal=legal, actor=STORE)
                and self.cancellation == "Requested"
            ):
                self.cancellation = "Refused"
                self.statuses.append(self.status)

        @invariant()
        def order_and_its_records_agree_with_the_model(self):
            order = Order.objects.get(pk=self.order.pk)
            assert (order.status, order.cancellation) == (self.status, self.cancellation)
            assert order.sequence == len(self.statuses)
            assert len(order.tracking_numbers) == order.shipments.count() == self.parcels
            history = list(order.history.values_list("sequence", "previous_status", "status"))
            expected = zip([None, *self.statuses], self.statuses, strict=False)
            assert history == [(n, *pair) for n, pair in enumerate(expected, start=1)]
            reported = Event.objects.filter(data__OrderID=str(order.pk)).order_by("pk")
            assert [event.data["Sequence"] for event in reported] == [row[0] for row in history]
            assert order.rendering == render_export_row(order, store.external_id)

    return OrderLife


def test_every_move_of_an_order_goes_as_the_table_says(shop):
    run_state_machine_as_test(
        machine(shop.world, shop.store),
        settings=settings(
            max_examples=15,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
