"""Jobs that fail while they are to be cancelled: they end as cancelled, or a person can act on them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from production.adapters.folder import FolderAdapter
from production.dispatch.admin.job_actions import allowed_actions
from production.dispatch.services.actions import cancel_job, resend_job
from production.dispatch.services.reports import receive_reports
from production.interface import ProviderUnavailable, Report
from production.jobs.models import Job, JobState
from production.providers.models import Provider
from tests.factories.production import STORE, make_provider, make_rule, only_job, work_off_jobs
from tests.support.production.provider_orders import placed

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(shop, tmp_path) -> Provider:
    provider = make_provider(tmp_path)
    make_rule(provider)
    placed(shop, 1)
    return provider


def cancel_during(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """The next attempt to send the job ends with the error, after somebody cancelled the job."""

    def submit(self, job):
        cancel_job(job=only_job(), actor=STORE)
        raise error

    monkeypatch.setattr(FolderAdapter, "submit", submit)
    work_off_jobs()


def test_job_that_cannot_be_sent_is_cancelled_if_that_was_requested(folder, monkeypatch):
    cancel_during(monkeypatch, ValueError("The settings no longer fit."))

    assert (only_job().state, only_job().message) == (JobState.CANCELLED, "")


def test_job_whose_provider_fails_it_can_be_cancelled_and_sent_again(folder, monkeypatch):
    work_off_jobs()
    cancel_job(job=only_job(), actor=STORE)
    report = Report("1", only_job().number, JobState.FAILED, timezone.now())
    receive_reports(provider=folder, reports=[report])

    assert only_job().state == JobState.FAILED
    assert {"cancel", "resend"} <= allowed_actions(only_job())
    assert resend_job(job=only_job(), actor=STORE).number.endswith("-2")


def test_job_that_was_given_up_while_it_may_be_at_its_provider_is_left_to_a_person(folder, monkeypatch):
    Job.objects.update(failing_since=timezone.now() - timedelta(hours=25))
    cancel_during(monkeypatch, ProviderUnavailable("Cut."))

    assert only_job().state == JobState.FAILED
    assert {"cancel", "resend"} <= allowed_actions(only_job())
