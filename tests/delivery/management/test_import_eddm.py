import gzip
import io
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from delivery.datasets.models import Dataset, ImportRun
from delivery.datasets.selectors import live_dataset, stored_populations
from tests.factories.delivery import SMALL, csv_lines, write_csv

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(tmp_path) -> Path:
    return write_csv(tmp_path / "small.csv", *csv_lines(SMALL))


def run(*arguments) -> str:
    out = io.StringIO()
    call_command("import_eddm", *map(str, arguments), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_report(small):
    report = run(small, "--vintage", "2026-09").splitlines()

    assert report[0].startswith("small.csv: csv, vintage 2026-09, SHA-256 ")
    assert report[1:] == [
        "6 lines read: 3 ZIP codes, 4 routes counted (CRH), 1401 residential, 47 business, 1448 in all",
        "  B PO Box: 1 routes, 89 deliveries, not counted",
        "  C city: 2 routes, 1140 deliveries",
        "  G general delivery: 1 routes, 0 deliveries, not counted",
        "  H highway contract: 1 routes, 3 deliveries",
        "  R rural: 1 routes, 305 deliveries",
        f"Data set {live_dataset().pk} is active.",
    ]


def test_options_reach_the_import(small, tmp_path):
    other = write_csv(tmp_path / "other.csv", "84109,C001,5,5", header="Place,Carrier,Homes,Firms")
    run(small)

    report = run(
        other, "--map", "zip=Place,route=Carrier", "--map", "residential=Homes,business=Firms", "--merge", "--types",
        "crhb", "--force", "--max-reject", "0", "--format", "csv", "--vintage", "2025-02",
    )  # fmt: skip

    assert "Data set" in report
    assert (live_dataset().route_types, live_dataset().postal_code_count) == ("CRHB", 4)
    assert live_dataset().vintage_label == "2025-02"


def test_dry_run(small, tmp_path):
    bad = write_csv(tmp_path / "bad.csv", *csv_lines(SMALL), "x,C001,1,1,2")
    problems = tmp_path / "problems.csv"

    report = run(small, "--dry-run")
    with pytest.raises(CommandError, match="Not activated"):
        run(bad, "--dry-run", "--problems", problems)

    assert report.splitlines()[-1] == "Dry run: nothing was written."
    assert problems.read_text().splitlines()[1].startswith("8,ZIP_CODE,x,E_ZIP,")
    assert (Dataset.objects.count(), ImportRun.objects.count()) == (0, 0)


def test_rejects_and_exit_code(small, tmp_path):
    bad = write_csv(tmp_path / "bad.csv", *csv_lines(SMALL), "x,C001,1,1,2")
    problems, out = tmp_path / "problems.csv", io.StringIO()

    with pytest.raises(CommandError) as refused:
        call_command("import_eddm", str(bad), "--problems", str(problems), stdout=out, stderr=io.StringIO())

    dataset = Dataset.objects.get()
    assert refused.value.returncode == 1
    assert "  line 8: ZIP_CODE 'x' E_ZIP" in out.getvalue()
    assert "Concern: 14.29% of the lines were rejected, more than 0.5%." in out.getvalue()
    assert out.getvalue().splitlines()[-1] == (
        f"Data set {dataset.pk} waits: activate it with `manage.py eddm activate {dataset.pk} --force`."
    )
    assert len(problems.read_text().splitlines()) == 2
    assert run(bad, "--max-reject", "15").endswith("is active.\n")


def test_loading_without_activating(small):
    assert "waits: activate it" in run(small, "--no-activate")
    assert live_dataset() is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--vintage", "2026-13"], "must read YYYY-MM"),
        (["--types", "CX"], "must be some of C, R, H and B"),
        (["--map", "zip"], "write field=column"),
        (["--map", "age=x"], "write field=column"),
        (["--map", "zip=Nowhere"], "There is no column 'Nowhere'"),
        (["--postal-code", "841"], "write five digits"),
        (["--format", "xls"], "invalid choice"),
        (["--format", "delstat"], "Layout not recognized"),
    ],
)
def test_refused_arguments(small, arguments, says):
    with pytest.raises(CommandError, match=says):
        run(small, *arguments)


def test_no_file():
    with pytest.raises(CommandError, match="Name a file") as refused:
        run()

    assert refused.value.returncode == 2


@pytest.mark.slow
def test_standard_input(child_environment, small):
    done = subprocess.run(
        [sys.executable, "-m", "django", "import_eddm", "-", "--vintage", "2026-09"],
        input=gzip.compress(small.read_bytes()),
        env=child_environment,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"standard input: csv, vintage 2026-09")
    assert stored_populations(live_dataset()) == SMALL


def test_empty_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))

    with pytest.raises(CommandError, match=r"^The file is empty\.$") as refused:
        run("-")

    assert refused.value.returncode == 1


@pytest.mark.parametrize("percent", ["nan", "-1", "101", "many"])
def test_percentage_that_is_none_is_refused(percent, small):
    with pytest.raises(CommandError, match="write a number from 0 to 100"):
        run(small, "--max-reject", percent)
