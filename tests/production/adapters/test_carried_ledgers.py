"""Hot folders of release 0.1.0, whose ledgers lay in the folders: after an upgrade no job comes twice."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from production.adapters import folder, folder_ledger
from production.interface import ProviderRefused
from production.providers.models import LedgerRow
from tests.factories.production import folder_adapter
from tests.support.production.jobs import made_job

pytestmark = pytest.mark.django_db
WORK = f"new-{'0' * 32}"
DAY = 86_400


@pytest.fixture
def places(tmp_path, settings) -> tuple[Path, Path]:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    hot, back = tmp_path / "in", tmp_path / "out"
    (hot / ".fulfillment/jobs").mkdir(parents=True)
    (hot / ".fulfillment/waiting").mkdir()
    (back / "shipped").mkdir(parents=True)
    return hot, back


def add_entry(places: tuple[Path, Path], number: str, *, age: float = 0, **values: Any) -> Path:
    entry = {
        "state": "done",
        "work": WORK,
        "names": [number],
        "digests": {"a.pdf": "0" * 64},
        "marks": [],
        **values,
    }
    path = places[0] / ".fulfillment/jobs" / f"{number}.json"
    path.write_text(json.dumps(entry))
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_job_of_the_release_before_is_not_sent_again(places):
    add_entry(places, "1001-1")

    folder_adapter(places).submit(made_job("1001-1"))

    assert not (places[0] / "1001-1").exists()


def test_cancelled_job_of_the_release_before_stays_cancelled(places):
    add_entry(places, "1001-1", state="cancelled", work="", names=[])

    with pytest.raises(ProviderRefused, match="cancelled"):
        folder_adapter(places).submit(made_job("1001-1"))


def test_job_that_the_release_before_prepared_is_handed_over(places):
    add_entry(places, "1001-1", state="prepared")
    draft = places[0] / ".fulfillment" / WORK / "1001-1"
    draft.mkdir(parents=True)
    (draft / "1001-1.pdf").write_bytes(b"%PDF of the release before")

    folder_adapter(places).submit(made_job("1001-1"))

    assert (places[0] / "1001-1/1001-1.pdf").read_bytes() == b"%PDF of the release before"


def test_poll_knows_the_jobs_of_the_release_before(places):
    for number, marks in (("1001-1", []), ("1002-1", ["taken", "Shipped"]), ("G7", ["taken"])):
        add_entry(places, number, marks=marks)
        (places[1] / "shipped" / f"{number}.pdf").touch()

    found = {(report.job_number, report.state) for report in folder_adapter(places).poll()}

    assert found == {("1001-1", "Acknowledged"), ("1001-1", "Shipped"), ("G7", "Shipped")}


def test_old_entries_are_carried_over_in_parts_and_removed_a_day_after_their_last_change(places, monkeypatch):
    monkeypatch.setattr(folder_ledger, "CARRIED_AT_ONCE", 3)
    young = add_entry(places, "1009-1")
    for number in range(1, 9):
        add_entry(places, f"100{number}-1", age=2 * DAY)
    press = folder_adapter(places, taken="none")

    for _ in range(4):
        press.poll()
    assert LedgerRow.objects.count() == 9
    assert list((places[0] / ".fulfillment/jobs").iterdir()) == [young]

    os.utime(young, (time.time() - 2 * DAY,) * 2)
    folder._CLEANED.clear()
    press.poll()
    press.poll()
    assert [path.name for path in (places[0] / ".fulfillment").iterdir()] == []


@pytest.mark.parametrize(
    "change",
    [
        {"names": ["a\x00b"]},
        {"names": ["\ud800"]},
        {"digests": {"a": "\x00"}},
        {"digests": {"\ud800": "0" * 64}},
        {"marks": ["x" * 300]},
        {"marks": ["\x00"]},
        {"digests": []},
        {"names": {"a": 1}},
        {"work": "../../x"},
    ],
)
def test_entry_with_values_that_no_column_holds_fails_no_poll(places, change):
    add_entry(places, "1001-1", **change)
    add_entry(places, "1002-1")
    add_entry(places, "9" * 60)
    (places[0] / ".fulfillment/jobs" / "x\n.json").write_text("{}")

    reports = folder_adapter(places).poll()

    assert "1002-1" in {report.job_number for report in reports}
