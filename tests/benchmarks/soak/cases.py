"""The tests of random cases with all of their cases, of which the suite tries few."""

import os
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks.databases import ROOT
from tests.support.cases import WITH_MORE_CASES

MARK = "every test passes with all of its cases"
# The soak sets some of its own, which are not for tests.
ENVIRONMENT = dict(os.environ)


def measure() -> Iterator[str]:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *WITH_MORE_CASES], cwd=ROOT, env=ENVIRONMENT | {"CASES": "all"}
    )
    yield f"{'FAILED: ' if ended.returncode else ''}pytest ended with {ended.returncode}"
