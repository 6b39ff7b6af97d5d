"""An accepted order is at the press: queued with the transaction, sent once, tried again, failed over."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from accounts.models import Notification, Role
from accounts.services.notifications import NOTIFICATION_TASK
from fulfillment.core.errors import Conflict, Unavailable
from production.adapters.folder import FolderAdapter
from production.dispatch.services import sending
from production.dispatch.services.actions import hold_job, reassign_job, release_job
from production.interface import ProviderRefused, ProviderUnavailable
from production.jobs.models import Attempt, Job, JobHistory, JobState
from production.providers.models import Provider
from production.providers.services import review_failing_providers
from production.routing.models import RoutingTally
from stores.catalog.models import Store
from stores.orders.models import Order, OrderStatus
from stores.orders.services.cancellation import cancel_order
from stores.orders.services.recipients import erase_recipient
from stores.orders.services.transitions import transition_order
from tests.factories.orders import card_data, order_body
from tests.factories.production import (
    STORE,
    accept,
    make_press,
    make_provider,
    make_rule,
    only_job,
    work_off_jobs,
)
from tests.support.api.modes import add_test_application
from tests.support.orders.shop import Shop
from tests.support.production.provider_orders import killed_after, make_due
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.django_db
PRINTED = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}


@pytest.fixture
def press(shop, tmp_path) -> Provider:
    return make_press(tmp_path)


def placed(shop: Shop, **body) -> Order:
    response = shop.place(body=order_body(**body))
    assert response.status_code == 201, response.content
    return Order.objects.get(pk=response.json()["OrderID"])


def files_at(provider: Provider) -> list[str]:
    folder = Path(provider.settings["folder"])
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".fulfillment" not in path.parts
    )


def test_accepted_order_is_written_to_the_folder_once(shop, press):
    order = placed(shop, Items=[PRINTED])
    accept(order)

    assert work_off_jobs() == 1
    assert work_off_jobs() == 0

    job, name = only_job(), f"{order.number}-1"
    assert (job.state, job.number, job.provider) == (JobState.SENT, name, press)
    assert files_at(press) == [f"{name}/{name}.{end}" for end in ("json", "pdf", "xjdf")]
    folder = Path(press.settings["folder"]) / name
    ticket = json.loads((folder / f"{name}.json").read_bytes())
    assert ticket["JobNumber"] == name
    assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    attempt = Attempt.objects.get()
    assert (attempt.outcome, attempt.number) == ("Sent", name)
    sent = (folder / f"{name}.pdf").read_bytes()
    assert attempt.digests == {f"{name}.pdf": hashlib.sha256(sent).hexdigest()}
    assert list(JobHistory.objects.values_list("state", flat=True)) == ["Queued", "Sent"]


def test_job_is_undone_with_the_transaction_that_accepted(shop, press):
    order = placed(shop)

    with transaction.atomic():
        accept(order)
        assert Job.objects.exists()
        transaction.set_rollback(True)

    assert not Job.objects.exists()


def test_items_without_a_rule_get_no_job(shop, tmp_path):
    make_rule(make_provider(tmp_path), category="Banners")
    accept(placed(shop))
    assert not Job.objects.exists()


def test_test_orders_never_reach_a_provider(shop, press):
    tester = shop.world.as_application(add_test_application(shop.world))
    response = shop.place(tester, order_body())
    assert response.status_code == 201, response.content

    order = accept(response.json()["OrderID"])

    assert (order.is_test, order.status) == (True, OrderStatus.ACCEPTED)
    assert not Job.objects.exists()
    assert (work_off_jobs(), files_at(press)) == (0, [])


def test_orders_of_the_demo_store_never_reach_a_provider(shop, press):
    order = placed(shop)
    Store.objects.filter(is_demo=True).update(is_demo=False)
    Store.objects.filter(pk=shop.store.pk).update(is_demo=True)

    accept(Order.objects.get(pk=order.pk))

    assert not Job.objects.exists()


def test_held_order_holds_its_queued_jobs_until_accepted_again(shop, press):
    order = accept(placed(shop))
    order = transition_order(order=order, status=OrderStatus.ON_HOLD, actor=STORE)

    assert work_off_jobs() == 0
    assert only_job().held == "Order"

    accept(order)
    assert work_off_jobs() == 1


@pytest.mark.parametrize("held", ["Order", "Manual"])
def test_held_job_stays_held_at_another_provider(shop, press, tmp_path, held):
    other, order = make_provider(tmp_path, "other"), accept(placed(shop))
    if held == "Order":
        order = transition_order(order=order, status=OrderStatus.ON_HOLD, actor=STORE)
    else:
        hold_job(job=only_job(), actor=STORE)

    reassign_job(job=only_job(), provider=other, actor=STORE)

    assert work_off_jobs() == 0
    assert (only_job().provider, only_job().held) == (other, held)
    if held == "Order":
        accept(order)
    else:
        release_job(job=only_job(), actor=STORE)
    assert work_off_jobs() == 1
    assert files_at(other)


def test_job_is_not_called_held_while_it_is_being_sent(shop, press, monkeypatch):
    accept(placed(shop))
    submit = FolderAdapter.submit

    def submit_while_held(self, job):
        with pytest.raises(Conflict, match="is being sent to Press now"):
            hold_job(job=only_job(), actor=STORE)
        return submit(self, job)

    monkeypatch.setattr(FolderAdapter, "submit", submit_while_held)
    assert work_off_jobs() == 1
    assert (only_job().state, only_job().held) == (JobState.SENT, "")


def test_cancelled_order_takes_its_files_back(shop, press):
    order = accept(placed(shop))
    work_off_jobs()
    cancel_order(order=order, actor=STORE)

    assert only_job().cancel_requested
    work_off_jobs()

    assert only_job().state == JobState.CANCELLED
    assert files_at(press) == []


@pytest.mark.parametrize("is_forced", [False, True])
def test_order_takes_its_files_back_after_its_recipient_was_erased(shop, press, is_forced):
    """The print file is erased too: its cancellation needed it and failed, and the press printed the order."""
    order = accept(placed(shop, Items=[PRINTED]))
    work_off_jobs()
    if is_forced:
        erase_recipient(order=order, actor=STORE, force=True)
    cancel_order(order=order, actor=STORE)
    if not is_forced:
        erase_recipient(order=order, actor=STORE)

    work_off_jobs()

    assert (only_job().state, files_at(press)) == (JobState.CANCELLED, [])


def test_job_taken_by_the_press_is_not_cancelled(shop, press):
    order = accept(placed(shop))
    work_off_jobs()
    name = only_job().number
    (Path(press.settings["folder"]) / name).rename(Path(press.settings["return_folder"]) / name)
    cancel_order(order=order, actor=STORE)

    work_off_jobs()

    job = only_job()
    assert (job.state, job.cancel_requested) == (JobState.SENT, None)
    assert "stop it at the press" in job.message


def failing(monkeypatch, error: Exception, at: Provider) -> None:
    submit = FolderAdapter.submit

    def fails(self, job):
        if self._settings["folder"] == at.settings["folder"]:
            raise error
        return submit(self, job)

    monkeypatch.setattr(FolderAdapter, "submit", fails)


def raiser(error: Exception) -> Callable[..., None]:
    def fails(*_: object) -> None:
        raise error

    return fails


def later(time: timedelta) -> None:
    """All that has happened was so much earlier, and the job is due."""
    Job.objects.update(failing_since=F("failing_since") - time, next_try=timezone.now())
    Attempt.objects.update(started=F("started") - time, finished=F("finished") - time)


def test_refused_job_goes_to_the_next_provider_and_then_fails(shop, tmp_path, monkeypatch):
    first, second = make_provider(tmp_path, "first"), make_provider(tmp_path, "second")
    make_rule(first, second)
    failing(monkeypatch, ProviderRefused("No such paper."), at=first)
    accept(placed(shop))
    work_off_jobs()
    work_off_jobs()

    job = only_job()
    assert (job.state, job.provider) == (JobState.SENT, second)
    assert [attempt.outcome for attempt in job.attempts.all()] == ["Refused", "Sent"]


def test_job_that_every_provider_refuses_fails_and_notifies_the_staff(shop, press, monkeypatch, mailoutbox):
    failing(monkeypatch, ProviderRefused("No such paper."), at=press)
    accept(placed(shop))
    work_off_jobs()
    work_off_jobs()

    assert only_job().state == JobState.FAILED
    notice = Notification.objects.get(kind="job_failed")
    assert notice.user == shop.world.user
    assert notice.path.endswith(f"/admin/production/job/{only_job().pk}/change/")
    assert notice.in_bell

    assert work_off(NOTIFICATION_TASK) == 1
    assert [(email.to, email.subject) for email in mailoutbox] == [([notice.user.email], notice.title)]
    assert "No such paper." in mailoutbox[0].body


def test_failed_job_notifies_people_whose_role_is_everywhere(shop, press, monkeypatch):
    world = shop.world
    Role.objects.create(user=world.outsider, grant="Order.All.Read")
    failing(monkeypatch, ProviderRefused("No such paper."), at=press)
    accept(placed(shop))
    work_off_jobs()
    work_off_jobs()

    notices = Notification.objects.filter(kind="job_failed")
    assert {notice.user for notice in notices} == {world.user, world.outsider}


def test_job_moves_on_from_a_provider_that_is_down(shop, tmp_path, monkeypatch):
    first, second = make_provider(tmp_path, "first"), make_provider(tmp_path, "second")
    make_rule(first, second)
    failing(monkeypatch, ProviderUnavailable("No route.", is_unsent=True), at=first)
    accept(placed(shop))
    work_off_jobs()
    assert only_job().provider == first

    Provider.objects.filter(pk=first.pk).update(failing_since=timezone.now() - timedelta(seconds=21))
    make_due()
    work_off_jobs()

    assert (only_job().state, only_job().provider) == (JobState.SENT, second)


def test_job_moves_on_from_a_provider_that_passes_its_checks_and_takes_nothing(shop, tmp_path, monkeypatch):
    first, second = make_provider(tmp_path, "first"), make_provider(tmp_path, "second")
    make_rule(first, second)
    failing(monkeypatch, ProviderUnavailable("The disk is full.", is_unsent=True), at=first)
    accept(placed(shop))
    work_off_jobs()
    assert review_failing_providers() == 1

    Job.objects.update(failing_since=timezone.now() - timedelta(seconds=21))
    make_due()
    work_off_jobs()

    assert (only_job().state, only_job().provider) == (JobState.SENT, second)


def test_job_that_no_provider_takes_moves_ever_more_rarely(shop, tmp_path, monkeypatch):
    """Each move counts for the jobs per day of the provider, and a job that moves must fail after a day, too."""
    make_rule(make_provider(tmp_path, "first"), make_provider(tmp_path, "second"))
    monkeypatch.setattr(
        FolderAdapter, "submit", raiser(ProviderUnavailable("The disk is full.", is_unsent=True))
    )
    accept(placed(shop))
    for _ in range(20):
        later(timedelta(seconds=21))
        work_off_jobs()
        review_failing_providers()
    assert RoutingTally.objects.aggregate(jobs=Sum("jobs"))["jobs"] < 10

    later(timedelta(days=1))
    work_off_jobs()
    assert only_job().state == JobState.FAILED


@pytest.mark.parametrize(
    "change", [{"is_enabled": False}, {"failing_since": datetime(2026, 1, 1, tzinfo=UTC)}]
)
def test_job_leaves_a_provider_out_of_use_for_one_that_failed_lately(shop, tmp_path, monkeypatch, change):
    """The other one may work again, as after an outage of the network."""
    first, second = make_provider(tmp_path, "first"), make_provider(tmp_path, "second")
    make_rule(first, second)
    with monkeypatch.context() as patched:
        patched.setattr(FolderAdapter, "submit", raiser(ProviderUnavailable("No route.", is_unsent=True)))
        accept(placed(shop))
        for _ in range(3):
            later(timedelta(seconds=21))
            work_off_jobs()
            review_failing_providers()
    kept = only_job().provider
    later(timedelta(hours=8))
    Attempt.objects.update(started=timezone.now(), finished=timezone.now())
    Provider.objects.filter(pk=kept.pk).update(**change)
    work_off_jobs()

    job = only_job()
    assert (job.state, job.provider) == (JobState.SENT, second if kept == first else first)


def test_job_whose_print_file_is_away_stays_with_its_provider(shop, tmp_path, monkeypatch):
    """The next provider would not get it either."""
    first = make_provider(tmp_path, "first")
    make_rule(first, make_provider(tmp_path, "second"))
    monkeypatch.setattr(sending, "build_adapter_job", raiser(Unavailable("The file storage is away.")))
    accept(placed(shop))
    for _ in range(2):
        work_off_jobs()
        later(timedelta(seconds=21))

    assert (only_job().state, only_job().provider, only_job().tries) == (JobState.QUEUED, first, 2)


def test_job_that_may_have_arrived_stays_with_its_provider(shop, tmp_path, monkeypatch):
    first, second = make_provider(tmp_path, "first"), make_provider(tmp_path, "second")
    make_rule(first, second)
    failing(monkeypatch, ProviderUnavailable("Cut."), at=first)
    accept(placed(shop))
    work_off_jobs()
    Provider.objects.filter(pk=first.pk).update(failing_since=timezone.now() - timedelta(seconds=21))
    make_due()
    work_off_jobs()

    assert (only_job().provider, only_job().is_uncertain) == (first, True)
    assert files_at(second) == []


def test_shares_and_daily_capacity_divide_jobs(shop, tmp_path):
    first, second = make_provider(tmp_path, "first"), make_provider(tmp_path, "second", daily_capacity=1)
    make_rule(first, second, priorities=(1, 1)).choices.filter(provider=first).update(share=2)
    for _ in range(5):
        accept(placed(shop))
    work_off_jobs()

    assert Job.objects.filter(provider=first).count() == 4
    assert Job.objects.filter(provider=second).count() == 1


def test_interrupted_attempt_is_shown_and_the_job_sent_once(shop, press):
    accept(placed(shop))
    with killed_after(FolderAdapter, "submit"):
        work_off_jobs()
    make_due()
    work_off_jobs()

    assert [attempt.outcome for attempt in Attempt.objects.all()] == ["Interrupted", "Sent"]
    assert len(files_at(press)) == 2
