import csv
import time
from datetime import date, timedelta
from pathlib import Path

import pytest

from delivery.datasets.csv_export import export_lines
from delivery.datasets.models import Dataset, ImportProblem, ImportRun, Population
from delivery.datasets.populations import pack
from delivery.datasets.problems import REMEDIES, BadRouteFile
from delivery.datasets.selectors import live_dataset, stored_populations
from delivery.datasets.services.importer import ImportOptions, preview_file, read_file
from delivery.datasets.services.imports import import_file, try_file
from delivery.datasets.services.locking import end_interrupted_imports, hold_import_lock
from fulfillment.core.errors import Conflict, Invalid
from tests.factories.delivery import (
    SMALL,
    csv_lines,
    delstat_header,
    delstat_record,
    load_dataset,
    write_csv,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(tmp_path) -> Path:
    return write_csv(tmp_path / "small-2026-09.csv", *csv_lines(SMALL))


def load(path: Path, **options):
    return import_file(path=path, name=path.name, options=ImportOptions(**options), by="Ada")


def test_file_becomes_the_active_set(small):
    outcome = load(small)

    dataset = live_dataset()
    assert outcome.dataset == dataset
    assert stored_populations(dataset) == SMALL
    assert (dataset.file_name, dataset.source_format, len(dataset.sha256)) == ("small-2026-09.csv", "csv", 64)
    assert (dataset.created_by, dataset.activated_by, dataset.concerns) == ("Ada", "Ada", [])
    assert (outcome.run.state, outcome.run.percent, outcome.run.row_count) == ("loaded", 100, 6)
    assert outcome.run.dataset == dataset


def test_export_imports_to_the_same_set(small, tmp_path):
    first = load(small).dataset
    path = tmp_path / "export.csv"
    path.write_text("".join(export_lines(first)))

    second = load(path).dataset

    assert stored_populations(second) == stored_populations(first)
    bodies = Population.objects.order_by("postal_code").values_list("postal_code", "body")
    assert list(bodies.filter(dataset=first)) == list(bodies.filter(dataset=second))


@pytest.mark.parametrize("quoted", ["{}", '"{}",,,,', "\ufeff{}"])
def test_exported_synthetic_set_stays_synthetic_and_is_not_activated_silently(small, tmp_path, quoted):
    load(small, is_synthetic=True)
    mark, *lines = "".join(export_lines(live_dataset())).splitlines()
    path = tmp_path / "export.csv"
    path.write_text("\n".join([quoted.format(mark), *lines]))
    before = live_dataset()

    outcome = load(path)

    assert outcome.dataset.is_synthetic is True
    assert stored_populations(outcome.dataset) == SMALL
    assert "invented" in outcome.dataset.concerns[0]
    assert any("invented" in note for note in outcome.run.notes)
    assert live_dataset() == before
    activated = load(path, is_synthetic=True)
    assert live_dataset() == activated.dataset


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("small-2026-09.csv", {}, date(2026, 9, 1)),
        ("eddm_202608_all.csv", {}, date(2026, 8, 1)),
        ("small-2026-09.csv", {"vintage": "2025-01"}, date(2025, 1, 1)),
    ],
)
def test_vintage(tmp_path, name, options, expected):
    path = write_csv(tmp_path / name, *csv_lines(SMALL))

    assert load(path, **options).dataset.vintage == expected


def test_vintage_of_a_file_that_says_nothing(tmp_path):
    outcome = load(write_csv(tmp_path / "small.csv", *csv_lines(SMALL)))

    assert outcome.dataset.vintage == time_of(tmp_path / "small.csv")
    assert "as none was given" in outcome.run.notes[-1]


def time_of(path: Path) -> date:
    moment = time.gmtime(path.stat().st_mtime)
    return date(moment.tm_year, moment.tm_mon, 1)


def test_vintage_of_a_delivery_statistics_file(tmp_path):
    path = tmp_path / "delstat.txt"
    path.write_bytes(delstat_header("11-25") + delstat_record("84101", "C001", {}, {1: 5}))

    assert load(path).dataset.vintage == date(2025, 11, 1)


@pytest.mark.parametrize(
    "options", [{"vintage": "2026-13"}, {"vintage": "11-25"}, {"types": "CRX"}, {"types": "G"}]
)
def test_options_that_make_no_sense(options):
    with pytest.raises(Invalid):
        ImportOptions(**options)


def test_types_come_from_the_setting_unless_given(small, settings):
    settings.EDDM_ROUTE_TYPES = "BC"

    assert load(small).dataset.route_types == "CB"
    assert load(small, types="h", force=True).dataset.residential == 1


def test_rejects_are_kept_with_the_import_and_all_are_in_its_file(tmp_path):
    bad = [f"8410X,C{number % 1000:03d},1,1,2" for number in range(1200)]
    path = write_csv(tmp_path / "bad.csv", *csv_lines(SMALL), *bad, "501,H002,1,1,2")

    outcome = load(path)

    run = ImportRun.objects.get()
    assert (run.reject_count, run.warning_count) == (1200, 1)
    assert run.problem_counts == {"E_ZIP": 1200, "W_ZERO_LOST": 1}
    assert ImportProblem.objects.count() == 1000
    first = run.problems.first()
    assert (first.line, first.column, first.value, first.code) == (8, "ZIP_CODE", "8410X", "E_ZIP")
    with run.problem_file.open("r") as content:
        rows = list(csv.reader(content))
    assert rows[0] == ["line", "column", "value", "code", "remedy"]
    assert len(rows) == 1202
    assert outcome.dataset.status == "ready"


def test_short_route_is_filled_up_and_kept_with_the_import(tmp_path):
    outcome = load(write_csv(tmp_path / "short.csv", "84101,C1,600,40,640"))

    assert stored_populations(outcome.dataset) == {"84101": {"C001": pack(600, 40)}}
    assert [problem.value for problem in outcome.run.problems.all()] == ["C1"]


@pytest.mark.parametrize("code", REMEDIES)
def test_every_code_of_a_problem_fits_its_column(code):
    ImportProblem(line=1, code=code).clean_fields(exclude=["import_run", "value"])


def test_concerns_leave_the_set_waiting_and_the_live_one_serving(tmp_path, small):
    live = load(small).dataset
    other = write_csv(tmp_path / "other.csv", "84101,C001,5,5,10")

    waiting = load(other).dataset

    assert (waiting.status, live_dataset()) == ("ready", live)
    assert "1 3-digit areas disappear: 005." in waiting.concerns
    assert load(other, force=True).dataset == live_dataset()


def test_set_may_be_loaded_without_activating_it(small):
    assert load(small, activate=False).dataset.status == "ready"
    assert live_dataset() is None


def test_merge_replaces_only_the_codes_in_the_file(tmp_path, small):
    load(small, vintage="2026-09")
    path = write_csv(tmp_path / "new.csv", "84102,R009,301,4,305", "84103,C001,1,1,2")

    outcome = load(path, merge=True, vintage="2026-11", force=True)

    assert stored_populations(live_dataset()) == {
        **SMALL,
        "84102": {"R009": pack(301, 4)},
        "84103": {"C001": pack(1, 1)},
    }
    assert (outcome.dataset.is_merged, outcome.dataset.vintage) == (True, date(2026, 9, 1))


def test_merge_needs_something_to_merge_into(small):
    with pytest.raises(Invalid, match="no active data set"):
        load(small, merge=True)


def test_merge_into_a_set_that_is_no_longer_active(tmp_path, small, monkeypatch):
    def read_and_activate_another(**values):
        reading = read_file(**values)
        load_dataset()
        return reading

    load(small)
    monkeypatch.setattr("delivery.datasets.services.imports.read_file", read_and_activate_another)

    with pytest.raises(Conflict, match="merge the file again"):
        load(write_csv(tmp_path / "new.csv", "84102,R009,301,4,305"), merge=True)


def test_trial_run_writes_nothing(small):
    outcome = try_file(path=small, name="small.csv", options=ImportOptions())

    assert (len(outcome.reading.populations), outcome.dataset) == (3, None)
    assert (Dataset.objects.count(), ImportRun.objects.count()) == (0, 0)


def test_refused_file_leaves_its_record_and_nothing_else(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n")

    with pytest.raises(BadRouteFile):
        load(path)

    run = ImportRun.objects.get()
    assert (run.state, run.error.split(".")[0]) == (
        "failed",
        "No column for zip, route, residential, business was found",
    )
    assert (Dataset.objects.count(), Population.objects.count()) == (0, 0)


def test_file_without_one_valid_line_is_refused(tmp_path):
    with pytest.raises(BadRouteFile, match="None of the 1 lines could be read"):
        load(write_csv(tmp_path / "bad.csv", "x,C001,1,1,2"), force=True)


def test_failure_while_writing_leaves_nothing(small, monkeypatch):
    monkeypatch.setattr("delivery.datasets.services.imports.activate_dataset", lambda **values: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        load(small)

    assert ImportRun.objects.get().error == "Unexpected error: ZeroDivisionError. The log has the details."
    assert (Dataset.objects.count(), Population.objects.count()) == (0, 0)


def test_second_import_is_refused_with_the_running_one(small):
    ImportRun.objects.create(
        state="running", file_name="big.csv", phase="reading", percent=43, created_by="Grace"
    )
    message = r"of big.csv is running, started by Grace: reading, 43%\."
    with hold_import_lock(), pytest.raises(Conflict, match=message):
        load(small)


def test_import_that_was_killed_is_noticed(small):
    run = ImportRun.objects.create(state="running", file_name="big.csv")

    load(small)

    run.refresh_from_db()
    assert (run.state, run.error) == ("failed", "The import was interrupted, and nothing was loaded.")


@pytest.mark.parametrize("state", ["running", "waiting"])
def test_who_watches_notices_too(state):
    run = ImportRun.objects.create(state=state, file_name="big.csv")
    end_interrupted_imports()
    run.refresh_from_db()
    assert run.state == state

    ImportRun.objects.update(updated=run.updated - timedelta(seconds=61))
    end_interrupted_imports()

    run.refresh_from_db()
    assert run.state == "failed"


def test_preview_of_a_valid_file(small):
    preview = preview_file(path=small, name=small.name, options=ImportOptions())

    assert (preview.format, preview.vintage, preview.error) == ("csv", "2026-09", "")
    assert preview.header == ["ZIP_CODE", "CRID_ID", "RES_CNT", "BUS_CNT", "TOT_CNT"]
    assert preview.rows[0] == (2, "84101", "C001", "600", "40", "640")


def test_preview_of_a_file_with_other_columns(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("Place;Carrier;Homes;Firms\n84101;C001;5;5\n")

    preview = preview_file(path=path, name="other.csv", options=ImportOptions())
    chosen = {"zip": "Place", "route": "Carrier", "residential": "Homes", "business": "Firms"}
    mapped = preview_file(path=path, name="other.csv", options=ImportOptions(columns=chosen))

    assert (preview.header, preview.rows) == (["Place", "Carrier", "Homes", "Firms"], [])
    assert "No column for zip" in preview.error
    assert mapped.rows == [(2, "84101", "C001", "5", "5", "")]
