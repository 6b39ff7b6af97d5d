"""Orders above the limit of their store wait for an approver, over the API."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from accounts.models import Notification, Role
from applications.webhooks.models import Event
from stores.orders.models import ApprovalRequest, Order, OrderHistory
from stores.orders.services.approvals import expire_requests, remind_approvers
from tests.factories.orders import order_body
from tests.support.api.modes import add_test_application
from tests.support.orders.approvals import add_approver, decide
from tests.support.scenario import EVERY_SCOPE

LIMIT = Decimal("10.00")


@pytest.fixture
def approver(shop):
    return add_approver(shop)


@pytest.fixture(autouse=True)
def limit(shop):
    type(shop.store).objects.filter(pk=shop.store.pk).update(approval_above=LIMIT)


def event_types():
    return list(Event.objects.order_by("pk").values_list("type", flat=True))


def test_order_above_the_limit_is_pending(shop, approver):
    placed = shop.place()
    order = placed.json()
    order_read = shop.world.as_application().call("GET", f"/store/associated/order/{order['OrderID']}").json()

    assert placed.status_code == 201
    assert (order["Status"], order["Sequence"]) == (10, 2)
    assert order["Approval"]["State"] == "Pending"
    assert order["Approval"]["Reasons"] == [{"Kind": "Total", "Limit": 10.0, "Total": 12.0}]
    assert order_read["Approval"] == order["Approval"]
    assert event_types() == ["order.received", "order.approval_requested"]


@pytest.mark.parametrize("above", [None, Decimal("12.00"), Decimal("12.01")])
def test_order_up_to_the_limit_needs_none(shop, above):
    type(shop.store).objects.filter(pk=shop.store.pk).update(approval_above=above)
    order = shop.place().json()

    assert (order["Approval"], order["Sequence"]) == (None, 1)
    assert event_types() == ["order.received"]


def test_limit_of_zero_means_that_every_order_needs_approval(shop):
    type(shop.store).objects.filter(pk=shop.store.pk).update(approval_above=0)

    assert shop.place().json()["Approval"]["State"] == "Pending"


def test_pending_order_is_not_accepted_but_held_and_cancelled(shop, approver):
    order = shop.place().json()
    accepted = shop.act(order, "status", {"Status": 30})
    held = shop.act(order, "status", {"Status": 20})
    accepted_from_hold = shop.act(order, "status", {"Status": 30})

    assert (accepted.status_code, accepted.json()["Code"]) == (409, "approval_pending")
    assert (held.status_code, held.json()["Approval"]["State"]) == (200, "Pending")
    assert (accepted_from_hold.status_code, accepted_from_hold.json()["Code"]) == (409, "approval_pending")


def test_owner_cancels_a_pending_order_at_once_after_the_hold_window(shop, approver):
    order = shop.place().json()
    Order.objects.update(cancellable_until=timezone.now() - timedelta(seconds=1))
    cancelled = shop.act(order, "cancel", client=shop.world.as_application())
    approved = decide(shop, order, "approve", by=approver)

    assert (cancelled.status_code, cancelled.json()["StatusName"]) == (200, "Cancelled")
    assert cancelled.json()["Approval"]["State"] == "Expired"
    assert cancelled.json()["Approval"]["Note"] == "The order was cancelled."
    assert (approved.status_code, approved.json()["Code"]) == (409, "approval_decided")


def test_approved_order_can_be_accepted(shop, approver):
    order = shop.place().json()
    approved = decide(shop, order, "approve", {"Note": "For the fair."}, by=approver)
    accepted = shop.act(order, "status", {"Status": 30})

    shown = approved.json()["Approval"]
    assert (approved.status_code, approved.json()["Status"]) == (200, 10)
    assert (shown["State"], shown["DecidedBy"], shown["Note"]) == (
        "Approved",
        str(approver.pk),
        "For the fair.",
    )
    assert shown["DecidedAt"] >= shown["RequestedAt"]
    assert accepted.status_code == 200
    assert event_types()[-2:] == ["order.approved", "order.accepted"]


def test_denied_order_is_rejected_with_the_reason(shop, approver):
    order = shop.place().json()
    denied = decide(shop, order, "deny", {"Reason": "Order 200."}, by=approver)
    again = shop.act(order, "status", {"Status": 30})

    assert (denied.status_code, denied.json()["Status"]) == (200, 95)
    assert (denied.json()["Approval"]["State"], denied.json()["Approval"]["Note"]) == ("Denied", "Order 200.")
    assert (again.status_code, again.json()["Code"]) == (409, "status_not_allowed")
    assert event_types()[-2:] == ["order.denied", "order.rejected"]
    assert OrderHistory.objects.order_by("-sequence").first().note == "Order 200."


def test_denial_needs_a_reason(shop, approver):
    order = shop.place().json()
    refused = decide(shop, order, "deny", {"Reason": " "}, by=approver)

    assert (refused.status_code, refused.json()["Errors"][0]["Pointer"]) == (400, "/Reason")


@pytest.mark.parametrize("first", ["approve", "deny"])
@pytest.mark.parametrize("second", ["approve", "deny"])
def test_second_decision_is_refused(shop, approver, first, second):
    bodies = {"approve": None, "deny": {"Reason": "No."}}
    order = shop.place().json()
    decide(shop, order, first, bodies[first], by=approver)
    before = OrderHistory.objects.count(), Event.objects.count()
    refused = decide(shop, order, second, bodies[second])

    assert (refused.status_code, refused.json()["Code"]) == (409, "approval_decided")
    assert refused.json()["State"] == {"approve": "Approved", "deny": "Denied"}[first]
    assert (OrderHistory.objects.count(), Event.objects.count()) == before


def test_order_that_needs_no_approval_cannot_be_decided(shop, approver):
    type(shop.store).objects.filter(pk=shop.store.pk).update(approval_above=None)
    order = shop.place().json()
    refused = decide(shop, order, "approve", by=approver)

    assert (refused.status_code, refused.json()["Code"]) == (409, "approval_not_requested")


def test_decision_of_another_version_is_refused(shop, approver):
    order = shop.place().json()
    stale = decide(shop, order, "approve", by=approver, HTTP_IF_MATCH='"other"')

    assert (stale.status_code, Order.objects.get().approval) == (412, "Pending")


def test_users_without_the_grant_and_applications_cannot_decide(shop, approver):
    order = shop.place().json()
    Role.objects.create(application=shop.world.application, store=shop.store, grant="Order.All.Approve")
    worker = decide(shop, order, "approve", by=shop.world.user)
    application = shop.act(order, "approve", client=shop.world.as_application())

    assert worker.status_code == application.status_code == 403
    assert Order.objects.get().approval == "Pending"


class TestPersonWhoOrdered:
    def refused(self, shop, order, person, scopes=EVERY_SCOPE):
        response = shop.act(order, "approve", client=shop.world.as_user(person, scopes))
        assert (response.status_code, response.json()["Code"]) == (403, "approver_ordered")
        audited = ApprovalRequest.pgh_event_model.objects.get(pgh_label="own_order_refused")
        assert audited.pgh_context.metadata["user"] == str(person.pk)
        assert Order.objects.get().approval == "Pending"

    def test_cannot_approve(self, shop):
        person = shop.world.user
        Role.objects.create(user=person, store=shop.store, grant="Order.All.Approve")
        self.refused(shop, shop.place(shop.world.as_user(person)).json(), person)

    def test_cannot_approve_as_owner_of_the_application(self, shop):
        Role.objects.create(user=shop.world.user, store=shop.store, grant="Order.All.Approve")
        self.refused(shop, shop.place().json(), shop.world.user)

    def test_cannot_approve_as_owner_of_the_application_through_which_another_person_ordered(self, shop):
        owner, person = shop.world.user, shop.world.outsider
        Role.objects.create(user=owner, store=shop.store, grant="Order.All.Approve")
        Role.objects.create(user=person, store=shop.store, grant="Order.Self.Write")
        order = shop.place(shop.world.as_user(person, application=shop.world.application)).json()

        self.refused(shop, order, owner)
        decided = decide(shop, order, "approve", by=add_approver(shop))

        request = ApprovalRequest.objects.get()
        assert set(request.ordered_by) == {owner.pk, person.pk}
        assert (decided.status_code, decided.json()["Approval"]["State"]) == (200, "Approved")

    def test_cannot_approve_after_leaving_the_application(self, shop):
        Role.objects.create(user=shop.world.user, store=shop.store, grant="Order.All.Approve")
        order = shop.place().json()
        Role.objects.filter(application=shop.world.application, store=None).delete()
        type(shop.world.application).objects.update(user=shop.world.operator)
        self.refused(shop, order, shop.world.user)

    def test_cannot_approve_after_becoming_owner(self, shop, approver):
        order = shop.place().json()
        Role.objects.create(user=approver, application=shop.world.application, grant="Application.Self.Write")
        self.refused(shop, order, approver)

    def test_cannot_approve_as_operator(self, shop):
        placed = shop.place(shop.world.as_operator()).json()
        self.refused(shop, placed, shop.world.operator)


def test_undecided_order_is_rejected_at_the_end_of_the_time(shop, approver):
    order = shop.place().json()
    request = ApprovalRequest.objects.get()
    early = expire_requests(now=request.expires - timedelta(seconds=1))
    expired = expire_requests(now=request.expires)
    again = expire_requests(now=request.expires)
    shown = shop.world.as_application().call("GET", f"/store/associated/order/{order['OrderID']}").json()

    assert request.expires - request.requested == timedelta(hours=72)
    assert (early, expired, again) == (0, 1, 0)
    assert (shown["Status"], shown["Approval"]["State"]) == (95, "Expired")
    assert shown["Approval"]["DecidedBy"] is None
    assert event_types()[-1] == "order.rejected"
    assert event_types().count("order.denied") == 0


def test_decision_after_the_end_of_the_time_closes_the_request(shop, approver):
    order = shop.place().json()
    ApprovalRequest.objects.update(expires=timezone.now() - timedelta(seconds=1))
    refused = decide(shop, order, "approve", by=approver)

    assert (refused.status_code, refused.json()["State"]) == (409, "Expired")
    assert Order.objects.get().status == 95


def test_approvers_and_the_person_are_notified_once(shop, approver):
    order = shop.place(shop.world.as_user(shop.world.user)).json()
    request = ApprovalRequest.objects.get()
    reminded = [remind_approvers(now=request.requested + timedelta(hours=hours)) for hours in (35, 37, 38)]
    decide(shop, order, "deny", {"Reason": "Too many."}, by=approver)

    notifications = Notification.objects.order_by("pk").values_list("user", "kind", "key", "text")
    assert reminded == [0, 1, 0]
    assert [(user, kind, key.rpartition(":")[2]) for user, kind, key, _ in notifications] == [
        (approver.pk, "approval_requested", "requested"),
        (approver.pk, "approval_requested", "reminder"),
        (shop.world.user.pk, "approval_decided", "decided"),
    ]
    assert notifications[2][3] == "Too many."
    assert "approvalrequest" in Notification.objects.first().path


def test_test_orders_need_no_approval(shop):
    client = shop.world.as_application(add_test_application(shop.world))

    assert shop.place(client, order_body()).json()["Approval"] is None
