"""However often a batch changes, one check of it waits from each end."""

import psycopg
import pytest
from django.db import connection, transaction
from procrastinate.contrib.django.models import ProcrastinateJob

from fulfillment.operations.worker_health import connection_parameters
from stores.batches.services.batches import cancel_batch, change_batch, start_check
from stores.batches.services.rows import CHECK_TASK
from tests.support.batches.batches import access_to, addressed, checked, fresh, make_batch, person
from tests.support.servers.queued_jobs import BEGIN, work_off

FETCH = "SELECT task_name FROM procrastinate_fetch_job_v2(NULL, NULL)"


def checks(status="todo"):
    """Whether each of these checks begins at the end of its batch."""
    jobs = ProcrastinateJob.objects.filter(task_name=CHECK_TASK, status=status).order_by("id")
    return [job.args["from_end"] for job in jobs]


@pytest.mark.django_db
def test_batch_that_changes_often_is_queued_once(world):
    batch = make_batch(access_to(world), [person(1), person(2)])

    for quantity in (50, 100, 250):
        start_check(batch=fresh(batch))
        change_batch(batch=fresh(batch), values={"quantity": quantity})

    assert checks() == [False, True]
    assert checked(batch).status == "Checked"


@pytest.mark.django_db
def test_change_during_a_check_has_another_one_follow(world):
    batch = make_batch(access_to(world), [person(1), person(2)])
    with connection.cursor() as cursor:
        for job in ProcrastinateJob.objects.filter(task_name=CHECK_TASK):
            cursor.execute(BEGIN, [job.pk])

    for _ in range(2):
        start_check(batch=fresh(batch))

    assert (checks("doing"), checks()) == ([False, True], [False, True])


@pytest.mark.django_db
def test_other_batch_of_the_caller_is_queued_beside(world):
    access = access_to(world)

    make_batch(access, [person(1)])
    make_batch(access, [person(1)], product_id="card-two-sided")

    assert sorted(checks()) == [False, False, True, True]


@pytest.mark.django_db
def test_check_that_is_over_or_cancelled_leaves_no_job(world):
    access = access_to(world)
    ended = make_batch(access, [addressed(1)], mode="Recipients")

    assert work_off(CHECK_TASK) == 1
    assert (fresh(ended).status, checks()) == ("Checked", [])

    start_check(batch=fresh(ended))
    cancel_batch(batch=fresh(ended))
    assert checks() == []


@pytest.mark.django_db(transaction=True)
def test_worker_does_not_begin_before_it_can_see_the_change(world):
    batch = make_batch(access_to(world), [person(1)])
    with psycopg.connect(**connection_parameters()) as worker:
        with transaction.atomic():
            start_check(batch=batch)
            assert worker.execute(FETCH).fetchone() == (None,)
        assert worker.execute(FETCH).fetchone() == (CHECK_TASK,)
        worker.rollback()
