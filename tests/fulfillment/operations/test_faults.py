"""A disk, connections and files fail on one running service; `make soak ARGS="--only faults"` does the rest."""

import json
import os
from pathlib import Path

import pytest
from django.conf import settings

from tests.benchmarks.soak import faults
from tests.support.servers.fault_scene import Gate, namespace_refused
from tests.support.servers.faults import FOLDER_FAULTS, bucket_faults

RECORDED = Path(__file__).parent / "data" / "fault_metrics.json"
QUICK = (
    "no file can be opened",
    "the disk of the database is full",
    "PostgreSQL is at max_connections",
)


def failing(metrics):
    return {
        metric
        for metric, value in metrics.items()
        if not value and ("check_ok" in metric or "database_up" in metric)
    }


def test_every_fault_is_among_the_incidents_and_recorded():
    page = (Path(settings.BASE_DIR) / "docs/operating/incidents.md").read_text("utf-8")
    faults = [*FOLDER_FAULTS, *bucket_faults(Gate())]

    assert [fault for fault in faults if f"| {fault} |" not in page] == []
    assert sorted(json.loads(RECORDED.read_text("utf-8"))) == sorted(faults)


@pytest.mark.slow
def test_each_fault_is_named_and_leaves_nothing_lost_or_half():
    if refused := namespace_refused():
        give_up = pytest.fail if os.environ.get("FAULT_TESTS") == "required" else pytest.skip
        give_up(f"Small file systems of its own are not allowed here. {refused}")
    recorded = json.loads(RECORDED.read_text("utf-8"))

    report = faults.outcomes(QUICK)

    failures = [
        f"{outcome['fault']}: {each}" for outcome in report["outcomes"] for each in outcome["failures"]
    ]
    assert [*failures, *report["left"]] == []
    assert [outcome["fault"] for outcome in report["outcomes"]] == list(QUICK)
    for outcome in report["outcomes"]:
        # What the alerts are tested with; on a busy machine other checks may fail beside it.
        assert failing(recorded[outcome["fault"]]["metrics"]) <= failing(outcome["metrics"]), outcome["fault"]
