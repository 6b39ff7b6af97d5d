"""From a provider that is down to the next one within a minute; and what is slow at one holds up no other."""

import time
from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.utils import timezone

from fulfillment.core.errors import Unavailable
from production.adapters.folder import FolderAdapter
from production.dispatch.services import sending
from production.dispatch.services.choosing import JOBS_AT_ONCE, SLOTS, ProviderSlots
from production.dispatch.services.sending import claim_due_jobs
from production.interface import ProviderRefused, ProviderUnavailable
from production.jobs.models import Job, JobState
from production.providers.models import Provider
from tests.factories.orders import order_body
from tests.factories.production import accept, make_provider, make_rule, only_job, work_off_jobs
from tests.support.orders.shop import Shop
from tests.support.patience import FASTER, wait_for

pytestmark = pytest.mark.django_db
MAX_SECONDS = 60


def _order(shop: Shop) -> None:
    accept(shop.place(body=order_body()).json()["OrderID"])


@pytest.mark.slow
@pytest.mark.parametrize("hangs", [0, 30], ids=["refuses connections", "hangs for 30 seconds"])
def test_job_of_a_provider_that_is_down_is_with_the_next_one_within_a_minute(
    shop, tmp_path, monkeypatch, fast_clock, hangs
):
    first, second = make_provider(tmp_path, "first"), make_provider(tmp_path, "second")
    make_rule(first, second)
    submit = FolderAdapter.submit

    def down(self, job):
        if self._settings["folder"] == first.settings["folder"]:
            time.sleep(hangs / FASTER)
            raise ProviderUnavailable("No route.", is_unsent=True)
        return submit(self, job)

    monkeypatch.setattr(FolderAdapter, "submit", down)
    _order(shop)
    began = time.monotonic()
    wait_for(lambda: work_off_jobs() and only_job().state == JobState.SENT, every=0.01)

    took = FASTER * (time.monotonic() - began)
    assert (only_job().provider, only_job().state) == (second, JobState.SENT)
    assert took <= MAX_SECONDS, f"{took:.0f} s"


def test_provider_that_hangs_fails_from_when_the_attempt_began(shop, tmp_path, monkeypatch):
    make_rule(make_provider(tmp_path))

    def hangs(self, job):
        job_row = only_job()
        job_row.attempts.update(started=timezone.now() - timedelta(seconds=30))
        raise ProviderUnavailable("No answer.", is_unsent=True)

    began = timezone.now()
    monkeypatch.setattr(FolderAdapter, "submit", hangs)
    _order(shop)
    work_off_jobs()
    assert abs((Provider.objects.get().failing_since - began).total_seconds()) < 5


def test_slow_provider_holds_up_no_jobs_of_another_one(shop, tmp_path):
    slow, other = make_provider(tmp_path, "slow"), make_provider(tmp_path, "other")
    rule = make_rule(slow)
    _order(shop)
    with ExitStack() as under_way:
        for _ in range(JOBS_AT_ONCE // 2):
            assert under_way.enter_context(SLOTS.of_one_job()).take(slow.pk)
        assert work_off_jobs() == 0
        waiting = only_job()
        assert (waiting.provider, waiting.state, waiting.tries) == (slow, JobState.QUEUED, 0)
        assert claim_due_jobs(limit=10) == []
        rule.choices.update(provider=other)
        _order(shop)
        assert work_off_jobs() == 1
        assert Job.objects.get(provider=other).state == JobState.SENT

    assert work_off_jobs() == 1
    assert Job.objects.filter(state=JobState.SENT).count() == 2


def test_two_slow_providers_leave_a_thread_to_others():
    slots = ProviderSlots()
    taken = [[slots.take(number) for _ in range(JOBS_AT_ONCE)].count(True) for number in range(5)]

    assert taken == [4, 2, 1, 1, 0]
    assert sorted(slots.full()) == [0, 1, 2, 3]


def test_wrong_password_at_a_provider_fails_none_of_its_jobs(shop, tmp_path, monkeypatch):
    """They wait until the settings are right, or go to the next provider."""
    make_rule(make_provider(tmp_path))
    _order(shop)
    submit = FolderAdapter.submit

    def refuses(self, job):
        raise ProviderRefused("The password is wrong.", concerns_all=True)

    monkeypatch.setattr(FolderAdapter, "submit", refuses)
    work_off_jobs()
    assert (only_job().state, only_job().message) == (JobState.QUEUED, "The password is wrong.")
    assert Provider.objects.get().last_error == "The password is wrong."

    monkeypatch.setattr(FolderAdapter, "submit", submit)
    Job.objects.update(next_try=timezone.now())
    work_off_jobs()
    assert only_job().state == JobState.SENT


def test_job_waits_while_the_file_storage_is_away(shop, tmp_path, monkeypatch):
    """It is no fault of the job, nor of the provider."""
    make_rule(make_provider(tmp_path))
    _order(shop)

    def away(job):
        raise Unavailable("The file storage is away.")

    monkeypatch.setattr(sending, "build_adapter_job", away)
    work_off_jobs()
    assert (only_job().state, only_job().is_uncertain) == (JobState.QUEUED, False)
    assert only_job().next_try > timezone.now()
    assert Provider.objects.get().failing_since is None

    monkeypatch.undo()
    Job.objects.update(next_try=timezone.now())
    work_off_jobs()
    assert only_job().state == JobState.SENT
