import io

import pytest
from django.core.management import CommandError, call_command

from delivery.datasets.selectors import live_dataset
from tests.factories.delivery import SMALL, load_dataset

pytestmark = pytest.mark.django_db


def run(*arguments) -> str:
    out = io.StringIO()
    call_command("eddm", *map(str, arguments), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_list_activate_and_discard():
    first, second = load_dataset(), load_dataset(concerns=("Odd.",), active=False)

    with pytest.raises(CommandError, match="Odd"):
        run("activate", second.pk)
    assert run("activate", second.pk, "--force") == f"Data set {second.pk} is active.\n"
    assert [line.split()[:3] for line in run("list").splitlines()] == [
        [str(second.pk), "Active", "2026-10"],
        [str(first.pk), "Retired", "2026-10"],
    ]
    assert run("discard", first.pk) == f"Data set {first.pk} is discarded.\n"
    with pytest.raises(CommandError, match="active data set cannot"):
        run("discard", second.pk)
    assert live_dataset().activated_by.endswith("command)")


def test_compare():
    load_dataset()
    other = load_dataset({"84101": SMALL["84101"], "84109": {}}, active=False)

    assert run("compare", other.pk).splitlines() == [
        "ZIP codes: 3 -> 2 (-33.33%)",
        "routes: 4 -> 2 (-50.00%)",
        "residential: 1401 -> 1100 (-21.48%)",
        "business: 47 -> 40 (-14.89%)",
        "deliveries: 1448 -> 1140 (-21.27%)",
        "ZIP codes added: 1 84109",
        "ZIP codes gone: 2 00501 84102",
        "ZIP codes with different counts: 0",
    ]


def test_export(tmp_path):
    dataset = load_dataset()
    path = tmp_path / "out.csv"

    run("export", dataset.pk, "--output", path)

    assert path.read_text() == run("export")
    assert len(path.read_text().splitlines()) == 7


def test_rebuild():
    load_dataset()

    report = run("rebuild", "--types", "CB")

    assert report.startswith("Data set ")
    assert "CB" in run("list")


@pytest.mark.parametrize("action", ["activate", "discard", "compare", "rebuild", "export"])
def test_unknown_data_sets(action):
    load_dataset()

    with pytest.raises(CommandError, match="There is no data set 0"):
        run(action, 0)


@pytest.mark.parametrize("arguments", [["compare", 1], ["export"], ["rebuild"]])
def test_without_an_active_set(arguments):
    with pytest.raises(CommandError, match="No data set is active"):
        run(*arguments)


def test_file_that_cannot_be_written_is_refused_before_the_export(tmp_path):
    dataset = load_dataset()
    for output in (tmp_path, tmp_path / "missing" / "routes.csv"):
        with pytest.raises(CommandError, match="name a file in a folder that exists"):
            run("export", dataset.pk, "--output", output)
