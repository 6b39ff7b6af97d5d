"""What `make soak` shows at length, here in small: the same parts, on the database of the test."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import call_command

from production.adapters import folder_returns
from production.adapters.sftp import SftpAdapter
from production.dispatch.services import sending
from production.jobs.services import outcomes
from production.providers import selectors
from tests.benchmarks.databases import ROOT
from tests.benchmarks.soak import __main__ as soak
from tests.benchmarks.soak import (
    budgets,
    cuts,
    kills,
    neighbours,
    presses,
    production,
    races,
    reload,
    scene,
)
from tests.benchmarks.soak.neighbours import Marks
from tests.support.database.address import address_of
from tests.support.patience import PATIENCE, ROUNDS

# Of each sort what cost others most, and wide marks: other tests run beside.
WORST = ("accept-long", "token-wrong", "slow-body", "orders-of-500", "picture-bombs")
WIDE_MARKS = Marks(quiet_times=50, median=0.5, longest=5)

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def environment(monkeypatch, settings):
    """Of the processes the parts start."""
    variables = {
        "FULFILLMENT_MODE": "development",
        "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
        "DATABASE_URL": address_of(),
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        **scene.LIMITS,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    # A test begins with an empty one.
    monkeypatch.setattr(scene, "empty_database", lambda: None)


def test_cut_connections_leave_the_old_state_or_the_new():
    assert failures(cuts.measure(15, farthest=60, writers=4, processes=1)) == []


def test_orders_at_once_are_accepted_up_to_the_limit_of_their_budget():
    assert failures(budgets.measure(1, orders=150, limits=(1, 100), processes=1)) == []


def test_killed_web_processes_lose_nothing_and_double_nothing():
    assert failures(kills.measure(1, with_worker=False, clients=4, processes=1)) == []


@pytest.fixture
def short_waits(monkeypatch):
    """Between tries, for leases and for reports: no promise here is about how long they are."""
    monkeypatch.setattr(outcomes, "BACKOFF", [seconds / 20 for seconds in outcomes.BACKOFF])
    monkeypatch.setattr(selectors, "FAILOVER_AFTER", timedelta(seconds=1))
    monkeypatch.setattr(sending, "LEASE_SECONDS", 2)
    monkeypatch.setattr(folder_returns, "SETTLED_SECONDS", 0.2)
    monkeypatch.setitem(SftpAdapter.__init__.__kwdefaults__, "settle", 0.2)
    monkeypatch.setattr(presses, "LATE_SECONDS", 1)


@pytest.mark.parametrize(
    ("adapter", "orders", "kills"), [("folder", 10, 2), ("sftp", 10, 1), ("siteflow", 10, 1)]
)
def test_killed_senders_of_print_jobs_lose_nothing_and_double_nothing(short_waits, adapter, orders, kills):
    """And a press that is gone hands its jobs to the next one; how soon, test_fail_over.py holds."""
    lines = list(production.measure(orders, kills=kills, adapters=[adapter]))

    # How fast it is, other tests beside do not let it show.
    assert [line for line in failures(lines) if "p95" not in line] == []


def test_parallel_requests_for_one_thing_have_one_winner():
    lines = list(races.measure(2, processes=1))

    assert len(lines) == 5
    assert failures(lines) == []


def test_worst_case_callers_leave_the_service_to_others():
    """Four connections, as many as there are threads."""
    kinds, lines = WORST, []
    # The marks stand for a machine of its own: beside other tests each kind must reach them in one of several rounds.
    for number in range(ROUNDS):
        if number:
            call_command("flush", interactive=False, verbosity=0, reset_sequences=False)
        lines = list(neighbours.measure(1, kinds=kinds, connections=4, processes=1, marks=WIDE_MARKS))
        assert all(any(line.startswith(f"{name}: ") for line in lines) for name in kinds)
        kinds = tuple(name for name in kinds if any(f"FAILED: {name}: " in line for line in lines))
        if not kinds:
            break

    assert failures(lines) == []


@pytest.mark.parametrize(
    ("quiet", "noticed", "missed"),
    [
        (0.005, [("200", 0.01)], []),
        (0.02, [("200", 0.09)] * 9, []),
        (0.005, [("200", 0.06)] * 9, ["median"]),
        (0.005, [("200", 0.01)] * 9 + [("200", 1.1)], ["longest"]),
        (0.005, [("200", 0.01)] * 9 + [("503", 0.01)], ["unanswered"]),
        (0.005, [], ["median", "longest"]),
    ],
)
def test_each_mark_of_a_neighbour_can_be_missed(quiet, noticed, missed):
    assert Marks().missed(quiet, noticed) == missed


def test_chosen_part_runs_alone(monkeypatch):
    ran = []
    parts = {
        name: SimpleNamespace(
            MARK="mark", measure=lambda count=10, name=name: ran.append((name, count)) or []
        )
        for name in soak.PARTS
    }
    monkeypatch.setattr(soak, "PARTS", parts)
    monkeypatch.setattr(scene, "prepare", lambda: None)
    monkeypatch.setattr(soak.supervision, "raise_on_stop_signal", lambda: None)
    monkeypatch.setattr("sys.argv", ["soak", "--only", "neighbours", "--count", "2"])

    assert soak.main() == 0
    assert ran == [("neighbours", 2)]


def test_restarts_of_postgresql_under_load_lose_no_event():
    """In a process of its own: its PostgreSQL is killed, the one of the tests is not.

    What a worker does after each other way to lose it test_restarts.py holds.
    """
    with tempfile.TemporaryDirectory(prefix="soak-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        ended = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.soak", "--only", "restarts", "--count", "1"],
            cwd=ROOT,
            env=os.environ | {"SOAK_POSTGRES": f"{folder}/data"},
            capture_output=True,
            text=True,
            timeout=4 * PATIENCE,
        )

    lines = ended.stdout.splitlines()
    assert any(line.startswith("1 restarts: ") for line in lines), ended.stdout + ended.stderr
    # How soon a worker is well again other tests beside do not let it show; test_restarts.py holds that.
    assert [line for line in failures(lines) if not line.startswith("FAILED: a heartbeat took")] == []


def test_reload_goes_to_the_next_release_and_fails_no_request_it_has_read():
    # Shorter than the unit's, as one worker of the older release serves while the first of the newer one starts.
    lines = reload.measure(1, interval=5, rate=60)

    # Granian resets a new connection that it took just before it ends, and whose request it has not read yet.
    assert [line for line in failures(lines) if "new connection: ConnectionResetError" not in line] == []


def failures(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if line.startswith("FAILED")]
