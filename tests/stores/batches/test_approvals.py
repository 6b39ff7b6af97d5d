"""A batch that needs approval is decided on once, as a whole, within the limits of that moment."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Notification, Role
from fulfillment.core.errors import Conflict, Forbidden
from stores.batches.models import BatchApproval
from stores.batches.selectors.batches import budget_decision, counts_of
from stores.batches.services.approvals import approve_batch, deny_batch, expire_approvals, remind_approvers
from stores.batches.services.batches import cancel_batch, start_check
from stores.batches.services.ordering import ORDER_TASK, order_batch
from stores.batches.services.rows import replace_rows
from stores.budgets.models import Budget
from stores.budgets.services.budgets import change_budget
from stores.catalog.models import Product, Store
from stores.orders.models import ActorKind, Order, OrderItem
from stores.orders.services.changes import Actor
from tests.factories.budgets import make_budget
from tests.factories.orders import order_body
from tests.support.batches.batches import (
    addressed,
    approver,
    checked,
    fresh,
    letters,
    make_batch,
    ordered,
    person,
    source_of,
    states_of,
    used,
)
from tests.support.orders.shop import open_shop
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.django_db
# Of a row: 100 pieces at 0.12.
PRICE = Decimal("12.00")


def lower(budget, limit):
    change_budget(budget=Budget.objects.select_related("store").get(pk=budget.pk), values={"Limit": limit})


def test_batch_is_approved_once_as_a_whole(budgeted, world):
    make_budget(budgeted.store, Limit=PRICE, OverBudget="Approve")
    decider = approver(world)
    batch = letters(budgeted)
    assert budget_decision(batch, counts_of(batch)) == "NeedsApproval"
    batch = ordered(batch)
    assert (batch.status, batch.approval.state) == ("Ordering", "Pending")
    assert not Order.objects.exists()

    approve_batch(batch=batch, actor=decider, note="Fine")
    work_off(ORDER_TASK)

    batch = fresh(batch)
    assert (batch.status, batch.approval.state, batch.approval.note) == ("Ordered", "Approved", "Fine")
    assert set(Order.objects.values_list("approval", flat=True)) == {""}
    with pytest.raises(Conflict) as refusal:
        deny_batch(batch=batch, actor=decider, reason="No")
    assert refusal.value.code == "approval_decided"


def test_total_above_the_limit_of_the_store_needs_approval(access):
    Store.objects.filter(pk=access.store.pk).update(approval_above=20)
    batch = ordered(letters(access_again(access)))

    assert batch.approval.reasons == [{"Kind": "Total", "Limit": 20.0, "Total": 36.0}]


def access_again(access):
    access.store.refresh_from_db()
    return access


@pytest.mark.parametrize("mode", ["Items", "Recipients"])
def test_rows_are_printed_on_the_paper_that_was_approved(access, world, mode):
    Store.objects.filter(pk=access.store.pk).update(approval_above=0)
    batch = make_batch(access_again(access), mode=mode)
    Product.objects.update(stock_code="SILK-350", coating="Matte")
    replace_rows(batch=batch, source=source_of([addressed(1), addressed(2)]))
    batch = ordered(checked(batch))

    Product.objects.update(stock_code="OFFSET-120", coating="None", version=F("version") + 1)
    approve_batch(batch=batch, actor=approver(world))
    work_off(ORDER_TASK)

    papers = [(item.finishing["stock_code"], item.finishing["coating"]) for item in OrderItem.objects.all()]
    assert papers == [("SILK-350", "Matte")] * 2


def test_people_who_ordered_decide_nothing(access, world):
    Store.objects.filter(pk=access.store.pk).update(approval_above=0)
    batch = ordered(letters(access_again(access), 1))

    with pytest.raises(Forbidden) as refusal:
        approve_batch(batch=batch, actor=Actor(ActorKind.USER, world.application.user_id))

    assert refusal.value.code == "approver_ordered"


def test_staff_who_order_a_batch_do_not_approve_it(access, world):
    Store.objects.filter(pk=access.store.pk).update(approval_above=0)
    batch, staff = letters(access_again(access), 1), Actor(ActorKind.STORE, approver(world).user_id)
    order_batch(batch=fresh(batch), actor=staff)

    with pytest.raises(Forbidden) as refusal:
        approve_batch(batch=batch, actor=staff)

    assert refusal.value.code == "approver_ordered"


def test_owner_of_the_application_that_orders_a_batch_does_not_approve_it(access, world):
    Store.objects.filter(pk=access.store.pk).update(approval_above=0)
    batch = letters(access_again(access), 1)
    other = Actor(ActorKind.APPLICATION, application_id=world.other_application.pk)
    order_batch(batch=fresh(batch), actor=other)
    Role.objects.create(user=world.outsider, store=access.store, grant="Order.All.Approve")

    path = f"/store/associated/batch/{batch.pk}/approve"
    response = world.as_user(world.outsider).call("POST", path, {})

    assert (response.status_code, response.json()["Code"]) == (403, "approver_ordered")


@pytest.mark.parametrize(("decision", "body"), [("approve", {}), ("deny", {"Reason": "No"})])
def test_attempt_of_who_ordered_is_in_the_audit_log(access, world, decision, body):
    Store.objects.filter(pk=access.store.pk).update(approval_above=0)
    Role.objects.create(user=world.user, store=access.store, grant="Order.All.Approve")
    batch = ordered(letters(access_again(access), 1))

    path = f"/store/associated/batch/{batch.pk}/{decision}"
    response = world.as_user(world.user).call("POST", path, body)

    assert (response.status_code, response.json()["Code"]) == (403, "approver_ordered")
    [event] = BatchApproval.pgh_event_model.objects.all()
    assert (event.pgh_label, event.state, event.pgh_obj_id) == ("own_order_refused", "Pending", batch.pk)
    assert event.pgh_context.metadata["user"] == str(world.user.pk)


def test_earlier_decision_on_a_batch_stays_in_the_audit_log(access, world):
    Store.objects.filter(pk=access.store.pk).update(approval_above=5)
    decider = approver(world)
    shop = open_shop(world)
    batch = checked(make_batch(access_again(access), [person(1)]))
    batch = ordered(batch, external_id="twice")
    approve_batch(batch=batch, actor=decider)
    assert shop.place(body={**order_body(), "ExternalID": "twice"}).status_code == 201
    work_off(ORDER_TASK)
    assert fresh(batch).status == "Checked"
    start_check(batch=batch)

    batch = ordered(checked(batch))

    assert batch.approval.state == "Pending"
    [event] = BatchApproval.pgh_event_model.objects.filter(state="Approved")
    assert (event.pgh_obj_id, event.decided_by_id) == (batch.pk, decider.user_id)


@pytest.mark.parametrize("end", ["deny", "expire", "cancel"])
def test_batch_that_is_not_approved_is_cancelled_and_gives_back_its_sum(budgeted, world, end):
    make_budget(budgeted.store, Limit=PRICE, OverBudget="Approve")
    batch = ordered(letters(budgeted))

    if end == "deny":
        deny_batch(batch=batch, actor=approver(world), reason="Too much")
    elif end == "expire":
        with CaptureQueriesContext(connection) as statements:
            assert expire_approvals(now=timezone.now() + timedelta(hours=73)) == 1
        due = [
            statement["sql"]
            for statement in statements
            if 'FROM "stores_batch" INNER JOIN' in statement["sql"]
        ]
        assert ['"template"' in text for text in due] == [False]
    else:
        cancel_batch(batch=batch)

    batch = fresh(batch)
    assert (batch.status, states_of(batch)) == ("Cancelled", ["Cancelled"] * 3)
    assert batch.approval.state == {"deny": "Denied", "expire": "Expired", "cancel": "Expired"}[end]
    assert used() == [0]
    work_off(ORDER_TASK)
    assert not Order.objects.exists()


def test_approver_of_a_batch_is_reminded_once_at_half_of_the_time(budgeted, world):
    make_budget(budgeted.store, Limit=PRICE, OverBudget="Approve")
    one = approver(world).user_id
    batch = ordered(letters(budgeted))
    moments = [batch.approval.requested + timedelta(hours=hours) for hours in (35, 37, 38)]

    assert [remind_approvers(now=moment) for moment in moments] == [0, 1, 0]
    notices = Notification.objects.filter(user=one, kind="approval_requested").order_by("pk")
    assert [notice.title.partition(batch.store.company_name)[2] for notice in notices] == [
        " needs approval",
        " still needs approval",
    ]


@pytest.mark.parametrize("over", ["Refuse", "Approve"])
def test_approving_after_a_limit_was_lowered_is_refused_with_numbers(budgeted, world, over):
    """As for a single order: the batch keeps its place, and is approved once there is room."""
    Store.objects.filter(pk=budgeted.store.pk).update(approval_above=5)
    budget, decider = make_budget(budgeted.store, Limit=3 * PRICE, OverBudget=over), approver(world)
    batch = ordered(letters(access_again(budgeted)))
    lower(budget, 3 * PRICE - 1)

    with pytest.raises(Conflict) as refusal:
        approve_batch(batch=batch, actor=decider)

    assert refusal.value.code == "budget_exceeded"
    [record] = refusal.value.members["Budgets"]
    assert [record[name] for name in ("Limit", "Used", "Remaining", "Requested")] == [35, 0, 35, 36]
    assert (fresh(batch).approval.state, used()) == ("Pending", [3 * PRICE])
    lower(budget, 3 * PRICE)
    approve_batch(batch=batch, actor=decider)
    work_off(ORDER_TASK)
    assert states_of(batch) == ["Ordered"] * 3


def test_known_excess_of_a_batch_is_approved_unless_its_limit_was_lowered(budgeted, world):
    budget = make_budget(budgeted.store, Limit=PRICE, OverBudget="Approve")
    batch, decider = ordered(letters(budgeted)), approver(world)
    lower(budget, PRICE - 1)

    with pytest.raises(Conflict):
        approve_batch(batch=batch, actor=decider)
    lower(budget, PRICE)
    approve_batch(batch=batch, actor=decider)

    assert fresh(batch).approval.state == "Approved"


def test_what_a_former_batch_gave_back_is_room_again(budgeted, world):
    """Only what still has a place before this one counts against a lowered limit."""
    Store.objects.filter(pk=budgeted.store.pk).update(approval_above=5)
    budget, decider = make_budget(budgeted.store, Limit=6 * PRICE), approver(world)
    former = ordered(letters(access_again(budgeted)))
    batch = ordered(letters(budgeted, product_id=former.product.external_id))
    cancel_batch(batch=former)
    lower(budget, 3 * PRICE)

    approve_batch(batch=batch, actor=decider)

    assert (fresh(batch).approval.state, used()) == ("Approved", [3 * PRICE])
