"""Operators run failed background jobs again; others, and jobs that did not fail, stay as they are."""

import pytest
from django.db import connection
from django.urls import reverse
from procrastinate.contrib.django.models import ProcrastinateJob

from tests.support.scenario import sign_in

JOBS = reverse("admin:procrastinate_procrastinatejob_changelist")


def make_job(status: str, lock: str | None = None) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, status, queueing_lock) "
            "VALUES ('mail', 'x', %s, %s) RETURNING id",
            [status, lock],
        )
        return int(cursor.fetchone()[0])


@pytest.fixture
def run_again(client):
    def post(user, *jobs: int, **more: str):
        sign_in(client, user)
        values = {"action": "run_again", "_selected_action": list(map(str, jobs)), "confirmed": "1", **more}
        return client.post(JOBS, values, follow=True)

    return post


def statuses() -> dict[int, str]:
    return dict(ProcrastinateJob.objects.values_list("id", "status"))


def test_operator_runs_failed_jobs_again(world, run_again):
    failed, done, other = make_job("failed"), make_job("succeeded"), make_job("failed")

    page = run_again(world.operator, failed, done)

    assert "1 job will run again." in page.content.decode()
    assert statuses() == {failed: "todo", done: "succeeded", other: "failed"}
    assert ProcrastinateJob.objects.get(pk=failed).attempts == 1


def test_running_again_asks_first(world, run_again):
    failed = make_job("failed")

    page = run_again(world.operator, failed, confirmed="")

    assert "Run these jobs again?" in page.content.decode()
    assert statuses() == {failed: "failed"}


def test_job_of_which_one_may_wait_is_not_queued_beside_another(world, run_again):
    first, second, waiting = make_job("failed", "a"), make_job("failed", "b"), make_job("todo", "b")
    third = make_job("failed", "a")

    page = run_again(world.operator, first, second, third)

    assert "1 job will run again." in page.content.decode()
    assert statuses() == {first: "todo", second: "failed", waiting: "todo", third: "failed"}
    assert "the same job already waits" in run_again(world.operator, second).content.decode()


def test_only_operators_run_jobs_again(world, run_again):
    failed = make_job("failed")

    assert run_again(world.user, failed).status_code == 403
    assert statuses() == {failed: "failed"}
