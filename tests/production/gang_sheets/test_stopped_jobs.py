"""Jobs that are stopped while their gang sheet is on its way leave it, unless the press may have it."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from production.adapters.folder import FolderAdapter
from production.dispatch.services.actions import cancel_job
from production.gang_sheets.models import GangSheet
from production.interface import ProviderRefused, ProviderUnavailable
from production.jobs.models import Job, JobState
from production.providers.models import Provider
from stores.orders.models import Order, OrderStatus
from stores.orders.services.transitions import transition_order
from tests.factories.production import STORE, accept, make_provider, make_rule, work_off_jobs
from tests.support.production.provider_orders import placed

pytestmark = pytest.mark.django_db


@pytest.fixture
def press(shop, tmp_path) -> Provider:
    provider = make_provider(tmp_path, settings={"gang_sheets": "sheetwise", "gang_wait": 30})
    make_rule(provider)
    return provider


@pytest.fixture
def jobs(shop, press) -> list[Job]:
    """On one sheet."""
    orders = [placed(shop, 1) for _ in range(2)]
    work_off_jobs()
    return [Job.objects.get(order=order) for order in orders]


def send_sheets() -> None:
    GangSheet.objects.filter(next_try__isnull=False).update(next_try=timezone.now())
    work_off_jobs()


def fail_once(monkeypatch: pytest.MonkeyPatch, error: Exception, action: Callable[[], object]) -> None:
    """The next attempt ends with the error, after something was done here."""
    submit = FolderAdapter.submit

    def fail(self, job):
        monkeypatch.setattr(FolderAdapter, "submit", submit)
        action()
        raise error

    monkeypatch.setattr(FolderAdapter, "submit", fail)


def hold_order_of(job: Job) -> Order:
    return transition_order(order=Order.objects.get(pk=job.order_id), status=OrderStatus.ON_HOLD, actor=STORE)


def states(jobs: list[Job]) -> list[tuple[str, str]]:
    return [Job.objects.values_list("state", "held").get(pk=job.pk) for job in jobs]


def test_job_of_an_order_put_on_hold_during_a_failed_attempt_leaves_its_sheet(jobs, monkeypatch):
    held = jobs[0]
    fail_once(monkeypatch, ProviderUnavailable("No route.", is_unsent=True), lambda: hold_order_of(held))
    send_sheets()
    send_sheets()
    work_off_jobs()

    assert states(jobs) == [(JobState.QUEUED, "Order"), (JobState.SENT, "")]
    accept(Order.objects.get(pk=held.order_id))
    work_off_jobs()
    send_sheets()
    assert states(jobs) == [(JobState.SENT, "")] * 2


def test_job_cancelled_during_a_failed_attempt_leaves_its_sheet(jobs, monkeypatch):
    fail_once(
        monkeypatch,
        ProviderUnavailable("No route.", is_unsent=True),
        lambda: cancel_job(job=jobs[0], actor=STORE),
    )
    send_sheets()
    send_sheets()
    work_off_jobs()

    assert states(jobs) == [(JobState.CANCELLED, ""), (JobState.SENT, "")]


def test_job_of_an_order_on_hold_waits_after_its_sheet_was_refused(jobs, press, tmp_path, monkeypatch):
    other = make_provider(tmp_path, "other")
    press.choices.get().rule.choices.create(provider=other, priority=2)
    fail_once(monkeypatch, ProviderRefused("No such paper."), lambda: hold_order_of(jobs[0]))
    send_sheets()
    work_off_jobs()

    assert states(jobs) == [(JobState.QUEUED, "Order"), (JobState.SENT, "")]
