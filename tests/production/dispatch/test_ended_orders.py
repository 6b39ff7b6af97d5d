"""Jobs of orders that a person moved to their end: they are closed, and no stage or day asks for them."""

from importlib import import_module

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from production.dispatch.selectors import count_stages, jobs_by_day
from production.dispatch.services.actions import cancel_job
from production.dispatch.services.reports import receive_reports
from production.gang_sheets.models import GangSheet, SheetState
from production.interface import Report
from production.jobs.models import Attempt, AttemptKind, Job, JobState, ReportOutcome
from production.providers.models import Provider
from stores.orders.models import Order, OrderStatus
from stores.orders.services.transitions import transition_order
from tests.factories.orders import order_body
from tests.factories.production import STORE, accept, make_provider, make_rule, only_job, work_off_jobs
from tests.support.orders.shop import Shop
from tests.support.production.provider_orders import placed, report, states, work

pytestmark = pytest.mark.django_db
TO_THE_END = {
    "shipped": (OrderStatus.IN_PRODUCTION, OrderStatus.SHIPPED),
    "delivered": (OrderStatus.IN_PRODUCTION, OrderStatus.SHIPPED, OrderStatus.DELIVERED),
    "returned": (OrderStatus.IN_PRODUCTION, OrderStatus.SHIPPED, OrderStatus.RETURNED),
}
MIGRATION = "0010_close_jobs_of_ended_orders"


@pytest.fixture
def order(world, tmp_path) -> Order:
    make_rule(make_provider(tmp_path))
    return accept(Shop(world).place(body=order_body()).json()["OrderID"])


def _move(order: Order, *statuses: OrderStatus) -> None:
    for status in statuses:
        transition_order(order=order, status=status, actor=STORE)


def _nothing_is_open() -> bool:
    Job.objects.update(due=timezone.localdate().replace(year=2020))
    return not any(count_stages(Job.objects.all()).values()) and not any(
        day.count for day in jobs_by_day(Job.objects.all())
    )


@pytest.mark.parametrize("statuses", TO_THE_END.values(), ids=list(TO_THE_END))
def test_job_at_its_provider_is_shipped_with_its_order(order, statuses):
    work_off_jobs()

    _move(order, *statuses)

    job = only_job()
    entry = job.history.last()
    assert (job.state, job.next_try) == (JobState.SHIPPED, None)
    assert (entry.previous_state, entry.state) == (JobState.SENT, JobState.SHIPPED)
    assert entry.note == "The order was shipped without a report of the provider."
    assert _nothing_is_open()


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.FAILED])
def test_job_that_no_provider_has_is_cancelled_when_its_order_is_shipped(order, state):
    Job.objects.update(state=state, next_try=None)

    _move(order, OrderStatus.IN_PRODUCTION, OrderStatus.SHIPPED)

    job = only_job()
    assert (job.state, job.next_try, job.held) == (JobState.CANCELLED, None, "")
    assert job.history.last().note == "The order was shipped without this job."
    assert work_off_jobs() == 0
    assert _nothing_is_open()


def test_failed_job_is_cancelled_with_its_order(order):
    Job.objects.update(state=JobState.FAILED, next_try=None)

    _move(order, OrderStatus.CANCELLED)

    assert only_job().state == JobState.CANCELLED
    assert _nothing_is_open()


def test_late_report_of_a_closed_job_adds_its_parcel_alone(order):
    work_off_jobs()
    _move(order, OrderStatus.IN_PRODUCTION, OrderStatus.SHIPPED)
    job = only_job()

    for state, outcome in (("InProduction", ReportOutcome.LATE), ("Shipped", ReportOutcome.APPLIED)):
        report = Report(identifier=state, job_number=job.number, state=state, at=None, tracking_number="1Z")
        assert receive_reports(provider=job.provider, reports=[report])[0].outcome == outcome

    order.refresh_from_db()
    assert (order.status, order.tracking_numbers) == (OrderStatus.SHIPPED, ["1Z"])


@pytest.mark.parametrize(
    ("status", "before", "after"),
    [
        (OrderStatus.DELIVERED, JobState.SENT, JobState.SHIPPED),
        (OrderStatus.SHIPPED, JobState.IN_PRODUCTION, JobState.SHIPPED),
        (OrderStatus.SHIPPED, JobState.FAILED, JobState.CANCELLED),
        (OrderStatus.RETURNED, JobState.QUEUED, JobState.CANCELLED),
        (OrderStatus.CANCELLED, JobState.FAILED, JobState.CANCELLED),
        (OrderStatus.CANCELLED, JobState.IN_PRODUCTION, JobState.IN_PRODUCTION),
        (OrderStatus.IN_PRODUCTION, JobState.SENT, JobState.SENT),
    ],
)
def test_migration_closes_jobs_of_ended_orders_and_opens_them_again(order, status, before, after):
    apps = MigrationLoader(connection).project_state(("production", MIGRATION)).apps
    migration = import_module(f"production.migrations.{MIGRATION}")
    Order.objects.update(status=status)
    Job.objects.update(state=before, next_try=None)

    migration.close_jobs(apps, None)
    assert only_job().state == after
    assert only_job().history.last().state == (after if after != before else JobState.QUEUED)

    migration.open_jobs(apps, None)
    assert (only_job().state, only_job().next_try) == (before, None)
    assert only_job().history.count() == 1


@pytest.fixture
def many(order, world) -> Order:
    """Beside the order of one job."""
    items = [{**order_body()["Items"][0], "ItemKey": f"item-{number}"} for number in range(12)]
    return accept(Shop(world).place(body=order_body(Items=items)).json()["OrderID"])


def _queries(order: Order, *statuses: OrderStatus) -> int:
    with CaptureQueriesContext(connection) as queries:
        _move(order, *statuses)
    return len(queries)


@pytest.mark.parametrize(
    "statuses",
    [
        (OrderStatus.ON_HOLD, OrderStatus.ACCEPTED),
        (OrderStatus.CANCELLED,),
        (OrderStatus.IN_PRODUCTION, OrderStatus.SHIPPED),
    ],
)
def test_change_of_an_order_takes_as_many_queries_for_many_jobs(order, many, statuses):
    """The store's other orders wait for it."""
    Job.objects.update(tries=1)

    assert many.jobs.count() == 12
    assert _queries(many, *statuses) == _queries(order, *statuses)


@pytest.mark.parametrize(
    "statuses",
    [(OrderStatus.ON_HOLD,), (OrderStatus.CANCELLED,), (OrderStatus.IN_PRODUCTION, OrderStatus.SHIPPED)],
)
def test_all_jobs_of_an_order_leave_a_gang_sheet_at_once(order, many, statuses):
    """Only those stay that are being sent; the store's other orders wait for it."""
    job = many.jobs.select_related("provider", "item").latest("pk")
    sheet = GangSheet.objects.create(
        provider=Provider.objects.get(),
        product_id=job.item.product_id,
        store_id=job.store_id,
        state=SheetState.PLANNED,
        pieces=13 * job.quantity,
        created=timezone.now(),
    )
    Job.objects.update(gang_sheet=sheet, provider=sheet.provider, message="On it.", next_try=None)
    Attempt.objects.create(
        job=job, number=job.number, provider=sheet.provider, kind=AttemptKind.SUBMIT, started=timezone.now()
    )

    of_many = _queries(many, *statuses)

    sheet.refresh_from_db()
    assert (sheet.pieces, sheet.generation, sheet.state) == (2 * job.quantity, 2, SheetState.PLANNED)
    assert list(many.jobs.filter(gang_sheet=sheet)) == [job]
    assert many.jobs.filter(message="").count() == 11
    # One statement saves the job that stays.
    assert of_many <= _queries(order, *statuses) + 1
    assert list(Job.objects.filter(gang_sheet__isnull=False)) == [job]


@pytest.mark.parametrize("items", [1, 2])
def test_job_that_a_provider_never_got_ends_with_its_order(shop, flow, press, items):
    order = placed(shop, items)
    flow.fault = lambda _method, _path, _moment: 429
    work()
    flow.fault = None

    transition_order(order=order, status=OrderStatus.CANCELLED, actor=STORE)
    work()

    assert set(order.jobs.values_list("state", "held", "next_try")) == {(JobState.CANCELLED, "", None)}
    assert flow.orders == {}


@pytest.mark.parametrize("is_reported", [False, True], ids=["answered", "reported"])
def test_items_of_a_cancelled_order_are_not_sent_again_without_another_one(shop, flow, press, is_reported):
    order = placed(shop)
    work()
    number = f"{order.number}-1"
    flow.printing.add(number)
    _move(order, OrderStatus.CANCELLED)
    work()
    assert states(order) == [JobState.SENT] * 3

    flow.printing.clear()
    cancel_job(job=only_job(number=f"{order.number}-2"), actor=STORE)
    if is_reported:
        report(press, number, "cancelled")
    work()

    assert states(order) == [JobState.CANCELLED] * 3
    assert list(flow.orders) == [number]
