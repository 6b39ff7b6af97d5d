"""Cards that other programs have made: good ones have no finding, those without bleed exactly one."""

from pathlib import Path

import pytest

from printing.preflight import Severity
from tests.support.printing.preflight_cards import inspected, raster

pytestmark = pytest.mark.slow
FILES = sorted((Path(__file__).parent / "good_files").glob("*.pdf"))
BLED = [path for path in FILES if not path.stem.endswith("-no-bleed")]


def found_in(path):
    return inspected(artwork=raster(path.read_bytes(), "application/pdf"))


@pytest.mark.parametrize("path", BLED, ids=lambda path: path.stem)
def test_file_is_good_with_bleed_and_lacks_nothing_else_without(path):
    assert [finding.message for finding in found_in(path)] == []

    [found] = found_in(path.with_name(f"{path.stem}-no-bleed.pdf"))
    assert (found.code, found.severity) == ("bleed_missing", Severity.ERROR)
