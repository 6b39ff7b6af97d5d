"""How `make bench` compares and reports; its figures are for a quiet machine."""

import subprocess
from types import SimpleNamespace

import pytest

from tests.benchmarks import __main__ as bench
from tests.benchmarks import quiet, ratios
from tests.benchmarks.load import Load


def runs(rate, worker, database):
    return ratios.Runs(loads=[load(rate)], worker=[worker], database=[database])


def load(rate):
    return Load(rate=rate, p50=1, p95=2, p99=2, failures=0, count=100)


def test_mark_needs_both_rate_and_processor_time():
    results = {"ours": runs(50, 2.0, 2.0), "limit": runs(100, 1.0, 1.0)}

    assert ratios.ratio(results, "limit") == 0.5
    assert ratios.cost_ratio(results, "limit") == 0.5
    assert ratios.reaches(results, "limit", 0.5)
    # A busy machine slows both alike: the rates come closer, the processor time does not.
    results["ours"].loads = [load(90)]
    assert not ratios.reaches(results, "limit", 0.6)


@pytest.fixture
def commands(monkeypatch):
    """The tables that were started, and the exit codes they end with."""
    started, codes = [], {}

    def run(command, check):
        table = command[2].removeprefix("tests.benchmarks.")
        started.append((table, command[3:]))
        return SimpleNamespace(returncode=codes.get(table, 0))

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(bench, "require_wrk", lambda: None)
    monkeypatch.setattr(bench, "wait_for_quiet", lambda: True)
    return SimpleNamespace(started=started, codes=codes)


def test_broken_table_keeps_no_other_from_being_taken(commands, capsys):
    commands.codes |= {"proofs": 1, "delivery": bench.MISSED}

    assert bench.main([]) == 1
    assert [table for table, _ in commands.started] == list(bench.TABLES)
    output = capsys.readouterr()
    assert "Could not be taken: proofs; the reason is above." in output.err
    assert "== delivery: taken, with figures under their marks" in output.out


def test_missed_mark_is_no_error_of_the_run(commands):
    commands.codes["delivery"] = bench.MISSED

    assert bench.main(["--orders", "2000000", "--rounds", "1"]) == 0
    assert dict(commands.started) == {
        "bench": ["--rounds", "1"],
        "delivery": [],
        "proofs": [],
        "press": [],
        "orders": ["--orders", "2000000"],
        "webhooks": [],
    }


def test_machine_with_other_work_is_busy(monkeypatch):
    seconds = iter([100.0, 101.0])
    monkeypatch.setattr(quiet, "_busy_seconds", lambda: next(seconds))
    moments = iter([10.0, 11.0])
    monkeypatch.setattr(quiet.time, "monotonic", lambda: next(moments))
    monkeypatch.setattr(quiet.os, "cpu_count", lambda: 2)

    assert quiet.OtherWork(lambda: 5.0).share() == 0.5


def test_own_process_is_no_other_work(monkeypatch):
    seconds, own = iter([100.0, 101.0]), iter([5.0, 6.0])
    monkeypatch.setattr(quiet, "_busy_seconds", lambda: next(seconds))

    assert quiet.OtherWork(lambda: next(own)).share() == 0
