"""What the worker logs where several of its tasks fail together."""

import asyncio
import gc

import psycopg
import pytest

from fulfillment.management.commands import worker


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
