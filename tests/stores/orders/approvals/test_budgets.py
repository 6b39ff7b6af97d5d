"""Pending orders have their place in the budgets that bind them."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from accounts.callers import Caller
from stores.budgets.models import Budget
from stores.budgets.services.budgets import adjust_budget, change_budget
from stores.orders.models import ApprovalRequest, Order
from stores.orders.services.approvals import expire_requests
from tests.factories.budgets import enable_budgets, make_budget
from tests.support.orders.approvals import add_approver, decide

PRICE = Decimal("12.00")


@pytest.fixture
def approver(shop):
    enable_budgets(shop.store)
    return add_approver(shop)


def need_approval_above(shop, limit):
    type(shop.store).objects.filter(pk=shop.store.pk).update(approval_above=limit)


def used(budget):
    return budget.periods.get().used


def lower(budget, limit):
    change_budget(budget=Budget.objects.select_related("store").get(pk=budget.pk), values={"Limit": limit})


def test_order_beyond_a_budget_that_asks_for_approval_is_pending(shop, approver):
    budget = make_budget(shop.store, Limit=20, OverBudget="Approve")
    first, second = shop.place().json(), shop.place().json()
    approved = decide(shop, second, "approve", by=approver)

    assert first["Approval"] is None
    [reason] = second["Approval"]["Reasons"]
    assert {
        name: reason[name] for name in ("Kind", "BudgetID", "Limit", "Used", "Remaining", "Requested")
    } == {
        "Kind": "Budget",
        "BudgetID": str(budget.pk),
        "Limit": 20.0,
        "Used": 12.0,
        "Remaining": 8.0,
        "Requested": 12.0,
    }
    assert (approved.status_code, used(budget)) == (200, 24)


def test_order_above_the_limit_and_beyond_a_budget_has_both_reasons(shop, approver):
    need_approval_above(shop, 5)
    make_budget(shop.store, Limit=10, OverBudget="Approve")
    make_budget(shop.store, Limit=10, OverBudget="Warn", Name="Watched")
    order = shop.place().json()

    assert [reason["Kind"] for reason in order["Approval"]["Reasons"]] == ["Total", "Budget"]
    assert order["_meta"]["Messages"] == ["The budget Watched is exceeded: 12.00 USD of 10.00 USD are used."]


def test_refusing_budget_refuses_before_approval_is_requested(shop, approver):
    need_approval_above(shop, 5)
    make_budget(shop.store, Limit=10)
    refused = shop.place()

    assert (refused.status_code, refused.json()["Code"]) == (409, "budget_exceeded")
    assert not ApprovalRequest.objects.exists()


def test_pending_order_takes_its_place_in_the_budget(shop, approver):
    need_approval_above(shop, 5)
    budget = make_budget(shop.store, Limit=20)
    pending = shop.place()
    second = shop.place()

    assert (pending.json()["Approval"]["State"], used(budget)) == ("Pending", PRICE)
    assert second.json()["Code"] == "budget_exceeded"


@pytest.mark.parametrize("how", ["deny", "cancel", "expire"])
def test_order_that_is_not_approved_gives_back_once(shop, approver, how):
    need_approval_above(shop, 5)
    budget = make_budget(shop.store, Limit=20)
    order = shop.place().json()
    if how == "deny":
        decide(shop, order, "deny", {"Reason": "No."}, by=approver)
    elif how == "cancel":
        shop.act(order, "cancel", client=shop.world.as_application())
    else:
        ApprovalRequest.objects.update(expires=timezone.now() - timedelta(seconds=1))
        expire_requests(now=timezone.now())
        expire_requests(now=timezone.now())

    assert used(budget) == 0
    assert list(budget.entries.order_by("id").values_list("kind", "amount")) == [
        ("Order", -PRICE),
        ("Release", PRICE),
    ]


@pytest.mark.parametrize("over", ["Refuse", "Approve"])
def test_approving_after_a_limit_was_lowered_is_refused_with_numbers(shop, approver, over):
    need_approval_above(shop, 5)
    budget = make_budget(shop.store, Limit=20, OverBudget=over)
    order = shop.place().json()
    lower(budget, 11)
    refused = decide(shop, order, "approve", by=approver)

    assert (refused.status_code, refused.json()["Code"]) == (409, "budget_exceeded")
    [record] = refused.json()["Budgets"]
    assert [record[name] for name in ("Limit", "Used", "Remaining", "Requested")] == [11.0, 0.0, 11.0, 12.0]
    assert (Order.objects.get().approval, used(budget)) == ("Pending", PRICE)
    adjust_budget(budget=budget, amount=Decimal(1), note="More", caller=Caller.on_pages(shop.world.operator))
    assert decide(shop, order, "approve", by=approver).status_code == 200


def test_known_excess_is_approved_unless_its_limit_was_lowered(shop, approver):
    budget = make_budget(shop.store, Limit=10, OverBudget="Approve")
    first, second = shop.place().json(), shop.place().json()
    approved = decide(shop, first, "approve", by=approver)
    lower(budget, 9)
    refused = decide(shop, second, "approve", by=approver)

    assert (approved.status_code, refused.json()["Code"]) == (200, "budget_exceeded")


def test_later_orders_do_not_take_the_place_of_a_pending_one(shop, approver):
    """The limit is lowered to what the pending order needs; the order after it does not count."""
    need_approval_above(shop, 5)
    budget = make_budget(shop.store, Limit=24)
    pending = shop.place().json()
    shop.place()
    lower(budget, 12)

    assert used(budget) == 24
    assert decide(shop, pending, "approve", by=approver).status_code == 200


def test_denying_needs_no_room_in_the_budget(shop, approver):
    need_approval_above(shop, 5)
    budget = make_budget(shop.store, Limit=20)
    order = shop.place().json()
    lower(budget, 1)

    assert decide(shop, order, "deny", {"Reason": "No."}, by=approver).status_code == 200


def test_budget_that_warns_or_no_longer_binds_is_no_obstacle(shop, approver):
    need_approval_above(shop, 5)
    watched = make_budget(shop.store, Limit=20, OverBudget="Warn")
    off = make_budget(shop.store, Limit=20)
    order = shop.place().json()
    lower(watched, 1)
    lower(off, 1)
    Budget.objects.filter(pk=off.pk).update(is_enabled=False)

    assert decide(shop, order, "approve", by=approver).status_code == 200
