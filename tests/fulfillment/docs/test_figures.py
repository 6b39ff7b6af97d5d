"""Measured figures stand in docs/performance.md alone, at the places that the benchmarks write to."""

import re
from pathlib import Path

import pytest

from tests.support.figures import write_between

ROOT = Path(__file__).resolve().parents[3]
PERFORMANCE = ROOT / "docs" / "performance.md"
WRITES = re.compile(r"write_between\((\w+), \"([\w ]+)\"")
WRITTEN = sorted(
    (module.name, *match)
    for module in (ROOT / "tests" / "benchmarks").rglob("*.py")
    for match in WRITES.findall(module.read_text("utf-8"))
)


def test_benchmarks_write_into_one_document():
    assert {document for _, document, _ in WRITTEN} == {"DOCUMENT"}
    assert len(WRITTEN) == 4


@pytest.mark.parametrize(("module", "document", "name"), WRITTEN, ids=lambda value: value)
def test_document_has_a_place_for_every_benchmark(tmp_path, module, document, name):
    copy = tmp_path / "copy.md"
    copy.write_text(PERFORMANCE.read_text("utf-8"), encoding="utf-8")

    write_between(copy, name, "new figures\n")

    assert f"<!-- {name} -->\nnew figures\n<!-- end of {name} -->" in copy.read_text("utf-8")
