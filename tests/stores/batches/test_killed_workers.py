"""Processes that are killed, at any statement and at random moments: nothing is lost, doubled or left behind."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from stores.batches.models import BatchRow
from stores.batches.services.checking import check_batch
from stores.batches.services.ordering import order_batch, write_orders
from stores.batches.services.rows import replace_rows
from stores.batches.services.uploads import read_source
from stores.budgets.services.ledger import check_balances
from stores.orders.models import ActorKind, Order, OrderItem
from stores.orders.services.changes import Actor
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import make_product
from tests.support.at_once import at_once
from tests.support.batches.batches import (
    access_to,
    addressed,
    fresh,
    make_batch,
    person,
    source_of,
    states_of,
    used,
)
from tests.support.cases import cases
from tests.support.patience import wait_for
from tests.support.scenario import build_world
from tests.support.servers.deaths import dies_at

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
OWNER = Actor(ActorKind.APPLICATION)
WORK = (
    "import gc; gc.disable(); import django; django.setup(); from uuid import UUID;"
    "from stores.batches.services.{module} import {name}; {name}(batch_id=UUID('{batch}'))"
)
READ_AND_DIE = """
import django; django.setup()
import os, signal
from stores.batches.models import Batch
from stores.batches.services import uploads
uploads.target_labels = lambda batch: {}
uploads.read_rows = lambda **options: os.kill(os.getpid(), signal.SIGKILL)
uploads.read_source(batch=Batch(mode="Items"), content=b"Name\\nAda Lovelace\\n", content_type="text/csv")
"""
# Of the check, and as many of the order.
KILLS = cases(2, 25)
ROWS = 15 * KILLS


@pytest.fixture
def access():
    world = build_world()
    enable_budgets(world.associated)
    make_budget(world.associated, Type="Orders", Limit=1000)
    make_budget(world.associated, Limit=100_000)
    return access_to(world)


def plain(number):
    row = addressed(number)
    return {name: row[name] for name in ("Addressee", "Street", "Town", "Zip", "Land")}


@pytest.mark.parametrize("mode", ["Items", "Recipients"])
def test_worker_killed_at_any_statement_orders_each_row_once(access, mode):
    make_product(access.store)
    rows = [plain(number) for number in (1, 2)]
    if mode == "Items":
        rows = [{"Key": row["Addressee"]} for row in rows]
    batch = make_batch(access, rows, mode=mode, product_id="card")
    check_batch(batch_id=batch.pk)
    order_batch(batch=fresh(batch), actor=OWNER)
    deaths = 0

    while dies_at(lambda: write_orders(batch_id=batch.pk), deaths):
        deaths += 1
        _assert_agreement(batch)

    _assert_agreement(batch)
    assert deaths > 10
    assert states_of(batch) == ["Ordered", "Ordered"]
    assert Order.objects.count() == (1 if mode == "Items" else 2)
    assert fresh(batch).status == "Ordered"
    assert sorted(used()) == [Order.objects.count(), 24]


def _assert_agreement(batch):
    orders = set(Order.objects.values_list("pk", flat=True))
    assert set(batch.rows.exclude(order=None).values_list("order", flat=True)) == orders
    assert set(batch.rows.filter(order=None).values_list("state", flat=True)) <= {"Ready"}
    assert check_balances() == 0
    # What is reserved and what is ordered are together always the whole.
    assert set(used()) <= {1, 2, 24}


def test_worker_killed_at_random_moments_checks_and_orders_each_row_once(access, child_environment):
    chance = random.Random(7)
    batch = make_batch(access, [addressed(number) for number in range(1, ROWS + 1)], mode="Recipients")

    killed = _work_and_die(batch, chance, child_environment, "checking", "check_batch", {"Pending"})
    check_batch(batch_id=batch.pk)
    assert states_of(batch) == ["Ready"] * ROWS
    assert fresh(batch).status == "Checked"
    order_batch(batch=fresh(batch), actor=OWNER)
    killed += _work_and_die(batch, chance, child_environment, "ordering", "write_orders", {"Ready"})
    write_orders(batch_id=batch.pk)

    assert killed >= KILLS // 2
    assert states_of(batch) == ["Ordered"] * ROWS
    assert Order.objects.count() == OrderItem.objects.count() == ROWS
    for row in batch.rows.select_related("order"):
        assert row.order.recipient["Name"] == row.name
    assert check_balances() == 0
    assert sorted(used()) == [ROWS, 12 * ROWS]


def _work_and_die(batch, chance, environment, module, name, waiting):
    """Some rows get done in each turn; a turn may also end by itself. Returns how often it was killed."""
    command = [sys.executable, "-c", WORK.format(module=module, name=name, batch=batch.pk)]
    killed = 0
    for _ in range(KILLS):
        waiting_rows = _left(batch, waiting)
        if not waiting_rows:
            break
        process = subprocess.Popen(command, env=environment, start_new_session=True)
        wait_for(
            lambda waiting_rows=waiting_rows, ended=process.poll: (
                _left(batch, waiting) < waiting_rows or ended() is not None
            )
        )
        time.sleep(chance.random() * 0.3)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    return killed


def _left(batch, states):
    return BatchRow.objects.filter(batch=batch, state__in=states).count()


def test_same_file_ten_times_and_twice_at_once_makes_no_new_row(access):
    rows = [person(number) for number in range(200)]
    batch = make_batch(access, rows)
    known = set(batch.rows.values_list("pk", flat=True))

    for _ in range(9):
        replace_rows(batch=fresh(batch), source=source_of(rows))
    at_once(*[lambda: replace_rows(batch=fresh(batch), source=source_of(rows))] * 2)

    assert set(batch.rows.values_list("pk", flat=True)) == known


def test_file_of_a_process_that_is_killed_while_it_reads_is_removed_by_the_next(
    access, child_environment, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed = subprocess.run(
        [sys.executable, "-c", READ_AND_DIE], env={**child_environment, "TMPDIR": str(tmp_path)}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert [file.read_bytes() for file in tmp_path.rglob("rows")] == [b"Name\nAda Lovelace\n"]

    read_source(batch=make_batch(access), content=b"Name\nGrace Hopper\n", content_type="text/csv")

    assert list(tmp_path.rglob("rows")) == []
