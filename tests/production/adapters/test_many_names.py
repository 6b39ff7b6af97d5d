"""What a poll of a hot folder costs does not grow with the names that lie in its folders for ever."""

import os
import time
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from production.adapters import folder_returns, open_folder
from production.adapters.folder_returns import ReturnFolder
from production.adapters.open_folder import OpenFolder, open_press_folder
from production.interface import ProviderUnavailable
from production.providers.ledger import ProviderLedger
from production.providers.models import LedgerRow, LedgerStem, Provider
from tests.factories.production import folder_adapter
from tests.support.production.jobs import made_job

pytestmark = pytest.mark.django_db
OLD_NAMES = 300


@pytest.fixture
def places(tmp_path, settings) -> tuple[Path, Path]:
    """Jobs that were shipped and stay in the folder."""
    settings.PRODUCTION_FOLDERS = [tmp_path]
    hot, back = tmp_path / "in", tmp_path / "out"
    (hot / ".fulfillment").mkdir(parents=True)
    (back / "shipped").mkdir(parents=True)
    folder_adapter((hot, back))
    provider = Provider.objects.get()
    rows = []
    for number in range(OLD_NAMES):
        name = f"{number}-1"
        (back / "shipped" / f"{name}.pdf").touch()
        rows.append(
            LedgerRow(
                provider=provider, number=name, state="done", work="", names=[name], digests={},
                marks=["taken", "Shipped"], updated=provider.created,
            )
        )  # fmt: skip
    LedgerRow.objects.bulk_create(rows)
    LedgerStem.objects.bulk_create(LedgerStem(row=row, stem=row.number) for row in rows)
    age(back / "shipped")
    return hot, back


def age(folder: Path) -> None:
    os.utime(folder, (time.time() - 60,) * 2)


def queries_and_listings(press, monkeypatch) -> tuple[int, list[str], list]:
    listed: list[str] = []
    names = OpenFolder.names
    with monkeypatch.context() as patch, CaptureQueriesContext(connection) as queries:
        patch.setattr(OpenFolder, "names", lambda self: listed.append(self.path.name) or names(self))
        reports = list(press.poll())
    asked = [query for query in queries.captured_queries if "ledgerstem" in query["sql"]]
    return len(asked), listed, reports


def test_old_names_are_looked_up_by_one_query_and_never_again(places, monkeypatch):
    press = folder_adapter(places)

    asked, listed, reports = queries_and_listings(press, monkeypatch)
    assert (asked, reports) == (1, [])
    assert "shipped" in listed

    asked, listed, reports = queries_and_listings(press, monkeypatch)
    assert (asked, reports) == (0, [])
    assert "shipped" not in listed


def test_names_that_wait_for_their_turn_are_not_listed_again(places, monkeypatch):
    monkeypatch.setattr(folder_returns, "MAX_NAMES_AT_ONCE", OLD_NAMES // 3)
    press = folder_adapter(places)

    polls = [queries_and_listings(press, monkeypatch) for _ in range(4)]

    assert [asked for asked, _, _ in polls] == [1, 1, 1, 0]
    assert [listed.count("shipped") for _, listed, _ in polls] == [1, 0, 0, 0]


def test_new_name_among_old_ones_is_found_by_itself(places, monkeypatch):
    press = folder_adapter(places)
    press.poll()
    press.submit(made_job("1001-9"))
    (places[0] / "1001-9").rename(places[1] / "shipped" / "1001-9")
    looked: list[int] = []
    find = ProviderLedger.find_named
    counted = lambda self, names, mark: looked.append(len(names)) or find(self, names, mark=mark)  # noqa: E731
    monkeypatch.setattr(ProviderLedger, "find_named", counted)

    reports = press.poll()
    assert {(report.job_number, report.state) for report in reports} == {
        ("1001-9", "Acknowledged"),
        ("1001-9", "Shipped"),
    }
    assert looked == [1]
    again = press.poll()
    assert len(again) == 2, "what was not confirmed comes again"
    press.confirm(again)
    assert press.poll() == []


def test_name_that_comes_within_the_same_tick_as_a_look_is_found(places):
    press, shipped = folder_adapter(places, taken="none"), places[1] / "shipped"
    press.submit(made_job("1001-9"))
    os.utime(shipped)
    press.poll()
    stamp = shipped.stat().st_mtime_ns
    (places[0] / "1001-9").rename(shipped / "1001-9")
    os.utime(shipped, ns=(stamp, stamp))

    assert [report.job_number for report in press.poll()] == ["1001-9"]


def test_names_are_listed_again_after_a_time_whatever_the_clock_of_the_file_server_says(places, monkeypatch):
    press, shipped = folder_adapter(places, taken="none"), places[1] / "shipped"
    press.submit(made_job("1001-9"))
    press.poll()
    stamp = shipped.stat().st_mtime_ns
    (places[0] / "1001-9").rename(shipped / "1001-9")
    os.utime(shipped, ns=(stamp, stamp))
    assert press.poll() == []

    monkeypatch.setattr(open_folder, "LISTED_AGAIN_SECONDS", 0)

    assert [report.job_number for report in press.poll()] == ["1001-9"]


def test_look_that_failed_is_repeated(places, monkeypatch):
    press = folder_adapter(places)

    def away(self, names, mark):
        raise OSError("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(ProviderLedger, "find_named", away)
        with pytest.raises(ProviderUnavailable):
            press.poll()

    assert queries_and_listings(press, monkeypatch)[0] == 1


def test_nothing_is_read_after_the_deadline(places):
    (places[1] / "a.csv").write_text("JobNumber,State\n1-1,Shipped\n")
    age(places[1] / "a.csv")

    with open_press_folder(places[1]) as back:
        found = ReturnFolder(back, ProviderLedger(Provider.objects.get().pk))
        assert list(found.reports(until=time.monotonic() - 1)) == []
        assert len(list(found.reports(until=time.monotonic() + 60))) == 1
