"""The print engine is a library: its README is run without the service."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.printing.pdfx_rules import faults

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "printing"
# A name that is None in `sys.modules` cannot be imported.
WITHOUT_THE_SERVICE = """
import sys
for name in ("django", "rest_framework", "fulfillment", "accounts", "applications", "delivery", "production", "stores"):
    sys.modules[name] = None
"""


@pytest.fixture
def copied_engine(tmp_path):
    """A folder that holds nothing but the engine: its renderers find no other package."""
    (tmp_path / "printing").symlink_to(ENGINE)
    return tmp_path


def test_readme_makes_a_print_file_without_the_service(copied_engine):
    [program] = re.findall(r"^```python\n(.+?)^```", (ENGINE / "README.md").read_text("utf-8"), re.M | re.S)
    assert len([line for line in program.splitlines() if line]) <= 10

    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_SERVICE + program],
        cwd=copied_engine,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.stderr == ""
    assert faults((copied_engine / "card.pdf").read_bytes()) == []
