"""The demo shows every page of the console something, at once after a fresh start."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from accounts.models import AssociationRequest, User
from applications.registration.models import DailyUsage
from applications.webhooks.selectors.webhooks import failing_webhooks
from fulfillment.operations import demo
from stores.batches.models import Batch, RowState
from stores.batches.services.rows import CHECK_TASK
from stores.budgets.models import Budget, CostCenterMember
from stores.demo.activity import MISTAKES
from stores.demo.calls import load_calls
from stores.demo.orders import ORDERS
from stores.orders.models import (
    ApprovalRequest,
    Order,
    OrderComment,
    OrderDay,
    OrderHistory,
    OrderItem,
    OrderStatus,
    OrderTally,
)
from stores.orders.selectors.approvals import approver_names
from stores.orders.selectors.board import late_orders
from tests.factories.applications import ApplicationFactory
from tests.support.database.snapshots import Snapshot
from tests.support.orders.sample_orders import count_all_orders
from tests.support.scenario import sign_in
from tests.support.servers.queued_jobs import work_off


@pytest.fixture
def loaded(made_demo: Snapshot[dict[str, Any]], db, settings):
    settings.DEVELOPMENT = True
    made_demo.restore()


@pytest.mark.slow
def test_demo_has_orders_in_every_status_over_a_month(loaded):
    orders, now = list(Order.objects.order_by("created")), timezone.now()

    assert len(orders) == len(ORDERS)
    assert {order.status for order in orders} == set(OrderStatus.values)
    assert now - timedelta(days=30) < orders[0].created < now - timedelta(days=29)
    assert now - timedelta(hours=2) < orders[-1].created <= now
    assert [order.number for order in orders] == sorted(order.number for order in orders)
    for order in orders:
        times = list(order.history.order_by("sequence").values_list("timestamp", flat=True))
        assert times == sorted(times)
        assert (times[0], times[-1]) == (order.created, order.updated)
        assert order.history.count() == order.sequence
        assert order.latest_delivery > order.created.date()
    assert late_orders(Order.objects.all()).count() >= 3
    assert Order.objects.filter(cancellation="Requested").count() == 1
    assert OrderComment.objects.count() >= 3


@pytest.mark.slow
def test_demo_has_a_company_with_a_budget_near_its_limit_and_an_order_to_approve(loaded, client):
    operator = User.objects.get(username="operator")
    sign_in(client, operator)

    start = client.get("/admin/").content.decode()
    queue = client.get("/admin/stores/approvalrequest/").content.decode()
    budgets = client.get("/admin/stores/budget/").content.decode()

    assert "orders need approval" in start
    assert "The budget Marco has 45.00 left of 100.00, and the order takes 65.00." in queue
    assert "First page of" in queue
    assert "<b>15.00 USD left</b> of 260.00 USD" in budgets
    assert 'class="gauge gauge-warned"' in budgets
    assert CostCenterMember.objects.count() == 5
    requests = list(ApprovalRequest.objects.select_related("order").order_by("requested"))
    assert [request.order.approval for request in requests] == ["Denied", "Pending", "Pending"]
    for request in requests:
        assert approver_names(request.order.store_id, request.ordered_by) == ["Nora Albrecht"]
    budget = Budget.objects.get(name="Marketing")
    statement = client.get(f"/admin/stores/budget/{budget.pk}/statement/?person=Ruiz").content.decode()
    assert statement.count("Marco Ruiz") == 2
    assert "<b>15.00 USD left</b> of 260.00 USD" in statement
    sign_in(client, User.objects.get(username="user"))
    own = client.get("/approvals").content.decode()
    assert "Sales has 300 of last month&#x27;s left." in own
    assert own.count("Denied") == own.count("Pending") == 1


@pytest.mark.slow
def test_demo_has_a_batch_with_five_faulty_rows(loaded):
    work_off(CHECK_TASK)
    [batch] = Batch.objects.all()
    faulty = batch.rows.filter(state=RowState.ERROR)

    assert batch.rows.count() == 60
    assert set(faulty.values_list("number", flat=True)) == set(MISTAKES)
    assert all(row.problems[0]["Remedy"] for row in faulty)


@pytest.mark.slow
def test_demo_has_calls_requests_and_a_webhook_that_fails(loaded):
    assert AssociationRequest.objects.filter(state="Pending").count() == 2
    # An integrator who follows the guide asks for this store first.
    assert not AssociationRequest.objects.filter(application__client_id="demo-application").exists()
    assert DailyUsage.objects.values("day").distinct().count() == 30
    webhook = failing_webhooks().get()
    assert webhook.deliveries.filter(attempts__isnull=False).count() >= 3
    before = set(Order.objects.values_list("pk", flat=True))
    demo.load_demo()
    assert set(Order.objects.values_list("pk", flat=True)) == before


def test_request_log_of_the_demo_has_each_refusal_that_is_counted(db, settings):
    now = timezone.now()
    application = ApplicationFactory()

    load_calls(application, usual=60, now=now)

    days = list(DailyUsage.objects.order_by("-day")[: settings.REQUEST_LOG_DAYS])
    logged = list(application.logged_requests.all())
    refused = [record for record in logged if record.status >= 400]
    assert len(refused) == sum(day.client_errors + day.server_errors for day in days)
    assert len(logged) > 2 * len(refused)
    assert all(record.problem and record.code == record.problem["Code"] for record in refused)
    assert {record.time.date() for record in logged} == {day.day for day in days}
    assert max(record.time for record in logged) < now


@pytest.mark.slow
def test_tallies_of_the_demo_are_those_of_its_orders(loaded):
    kept = set(OrderTally.objects.exclude(orders=0).values_list("store", "status", "orders"))
    placed = sum(OrderDay.objects.values_list("placed", flat=True))
    shipped = sum(OrderDay.objects.values_list("shipped", flat=True))

    assert placed == len(ORDERS)
    assert shipped == OrderHistory.objects.filter(status=60).count()
    count_all_orders()
    assert set(OrderTally.objects.values_list("store", "status", "orders")) == kept
    assert sum(OrderDay.objects.values_list("placed", flat=True)) == placed
    assert sum(OrderDay.objects.values_list("shipped", flat=True)) == shipped


@pytest.mark.slow
def test_demo_orders_have_their_pictures_before_a_page_shows_them(loaded):
    files = set(OrderItem.objects.exclude(print_file="").values_list("print_file", flat=True))
    assert not any(default_storage.exists(f"{name.removesuffix('.pdf')}-small-0.png") for name in files)

    demo.draw_pictures()

    assert len(files) > 20
    assert all(default_storage.exists(f"{name.removesuffix('.pdf')}-small-0.png") for name in files)
