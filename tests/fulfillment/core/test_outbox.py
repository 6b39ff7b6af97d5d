"""What every sender of a worker promises: nothing is lost, one fault stops no other work, and it closes in order."""

import asyncio
import threading

import pytest
from django.db import OperationalError

from fulfillment.core import outbox
from fulfillment.core.outbox import ThreadedOutbox
from tests.support.patience import PATIENCE


class Rows:
    """Waiting rows; a claim takes them as a lease does. `fails` names the calls that lose the database."""

    def __init__(self, *keys, fails=()):
        self.waiting = list(keys)
        self.limits: list[int] = []
        self.worked: list[str] = []
        self.faults: list[str] = []
        self._fails = list(fails)

    def claim(self, *, limit, under_way):
        self.limits.append(limit)
        if self._fails and self._fails.pop(0):
            raise OperationalError("the connection is closed")
        keys = [key for key in self.waiting if key not in under_way][:limit]
        self.waiting = [key for key in self.waiting if key not in keys]
        return keys

    def outbox(self, work, at_once=2):
        def run(key):
            self.worked.append(key)
            work(key)

        return ThreadedOutbox(
            "rows", claim=self.claim, work=run, record_fault=self.faults.append, at_once=at_once
        )


def play(box, is_over):
    """Polls until `is_over`, then closes."""

    async def run():
        polling = asyncio.create_task(box.poll_due())
        async with asyncio.timeout(PATIENCE):
            while not is_over():
                await asyncio.sleep(0.001)
        polling.cancel()
        await box.close()

    asyncio.run(run())


def test_all_waiting_rows_are_worked_on_a_few_at_a_time():
    rows, lock, busy, most = Rows(*range(20)), threading.Lock(), set(), []

    def work(key):
        with lock:
            busy.add(key)
            most.append(len(busy))
        with lock:
            busy.discard(key)

    play(rows.outbox(work), lambda: len(rows.worked) == 20)

    assert sorted(rows.worked) == list(range(20))
    assert max(most) <= 2
    assert max(rows.limits) <= 2


def test_row_under_way_is_not_claimed_again_and_blocks_no_other():
    rows, end = Rows("slow", "a", "b", "c"), threading.Event()

    def work(key):
        if key == "slow":
            rows.waiting.append("slow")
            end.wait(PATIENCE)

    box = rows.outbox(work)
    play(box, lambda: len(rows.worked) == 4 and (end.set() or True))

    assert sorted(rows.worked) == ["a", "b", "c", "slow"]


@pytest.mark.parametrize("lost", [1, 2, 5])
def test_polling_continues_after_the_database_was_away(monkeypatch, lost):
    """A claim that loses its connection is repeated on a new one at once, then after a pause."""
    monkeypatch.setattr(outbox, "PAUSE_SECONDS", 0.0)
    rows = Rows("a", fails=[True] * lost)

    play(rows.outbox(lambda key: None), lambda: rows.worked == ["a"])

    assert len(rows.limits) > lost


def test_fault_of_one_row_is_recorded_and_stops_no_other():
    rows = Rows("bad", "good")

    play(rows.outbox(lambda key: 1 / len(key.strip("bad"))), lambda: rows.faults and "good" in rows.worked)

    assert rows.faults == ["bad"]


def test_row_that_loses_the_database_waits_for_its_lease():
    rows = Rows("a", "b")

    def work(key):
        if key == "a":
            raise OperationalError("the connection is closed")

    play(rows.outbox(work), lambda: len(rows.worked) == 2)

    assert rows.faults == []


def test_closing_outbox_claims_nothing_and_finishes_what_is_under_way():
    rows, started, finished = Rows("a", "b", "c"), threading.Event(), []

    def work(key):
        started.set()
        asyncio.run(asyncio.sleep(0.05))
        finished.append(key)

    async def run():
        box = rows.outbox(work, at_once=1)
        polling = asyncio.create_task(box.poll_due())
        await asyncio.to_thread(started.wait, PATIENCE)
        box.stop_claiming()
        await box.close()
        polling.cancel()

    asyncio.run(run())

    assert finished == ["a"]
    assert rows.waiting == ["b", "c"]


def test_work_that_does_not_end_is_left_when_the_outbox_closes(monkeypatch):
    monkeypatch.setattr(outbox, "FINISH_SECONDS", 0.0)
    monkeypatch.setattr(outbox, "CLOSE_SECONDS", 0.01)
    rows, started, end = Rows("a"), threading.Event(), threading.Event()

    def work(key):
        started.set()
        end.wait(PATIENCE)

    try:
        play(rows.outbox(work), started.is_set)
    finally:
        end.set()
