"""What the worker logs where several of its tasks fail together, and the jobs that it leaves when it stops."""

import asyncio
import gc
import threading
import time
from uuid import uuid4

import psycopg
import pytest
from django.db import InternalError, connection, transaction
from procrastinate.contrib.django import app
from procrastinate.jobs import Job
from procrastinate.testing import InMemoryConnector

from fulfillment.core.api.errors import is_database_unavailable
from fulfillment.management.commands import worker
from stores.batches.services.ordering import ORDER_TASK
from stores.batches.services.rows import CHECK_TASK
from stores.catalog.models import Store


class Failing:
    name = "failing"

    async def poll_due(self):
        raise psycopg.errors.UndefinedTable("relation does not exist")


def test_tasks_that_fail_together_are_raised_once_and_leave_no_stack_in_the_log(monkeypatch, caplog):
    async def fail(*arguments):
        raise psycopg.errors.UndefinedTable("relation does not exist")

    async def work():
        stopping = asyncio.create_task(asyncio.Event().wait())
        try:
            await worker._work_until_error(stopping, None, [Failing(), Failing()], 1)
        finally:
            await worker.end_tasks([stopping])
            gc.collect()

    monkeypatch.setattr(worker, "_run_jobs", fail)
    monkeypatch.setattr(worker, "_rescue_stalled", fail)

    with pytest.raises(psycopg.errors.UndefinedTable):
        asyncio.run(work())

    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_job_that_outlasts_the_stop_of_its_worker_is_left_to_another(monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def check(**arguments):
        begun.set()
        ended.wait(20)

    async def begin_and_stop():
        jobs = asyncio.create_task(worker._run_jobs(app, 1))
        await asyncio.to_thread(begun.wait, 20)
        await worker.end_tasks([jobs], patience=0.3)
        ended.set()

    monkeypatch.setattr("stores.tasks.check_batch", check)
    monkeypatch.setattr(worker, "FINISH_SECONDS", 0.1)
    memory = InMemoryConnector()
    with app.replace_connector(memory):
        app.configure_task(CHECK_TASK).defer(batch_id=str(uuid4()))
        asyncio.run(begin_and_stop())

    statuses = [job["status"] for job in memory.jobs.values() if job["task_name"] == CHECK_TASK]
    assert statuses == ["todo"]


def test_interrupted_jobs_that_nothing_repeats_are_tried_again():
    periodic = {task.task.name for task in app.periodic_registry.periodic_tasks.values()}
    job = Job(id=1, queue="default", lock=None, queueing_lock=None, task_name="")
    lost = [
        name
        for name, task in app.tasks.items()
        if name not in periodic
        and "procrastinate" not in name
        and not task.get_retry_exception(asyncio.CancelledError(), job)
    ]
    assert lost == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "trouble",
    ["SET LOCAL idle_in_transaction_session_timeout = '50ms'", "SET TRANSACTION READ ONLY"],
    ids=["worker that stood still", "former primary"],
)
def test_batch_goes_on_after_an_interruption_that_is_no_lost_connection(world, trouble):
    job = Job(id=1, queue="default", lock=None, queueing_lock=None, task_name="")

    @transaction.atomic
    def write():
        with connection.cursor() as cursor:
            cursor.execute(trouble)
        time.sleep(0.2)
        Store.objects.update(company_name="Other")

    with pytest.raises(InternalError) as caught:
        write()
    for name in (CHECK_TASK, ORDER_TASK):
        assert app.tasks[name].get_retry_exception(caught.value, job) is not None
    assert is_database_unavailable(caught.value)
