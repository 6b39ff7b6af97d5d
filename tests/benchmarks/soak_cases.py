"""The tests of random cases with all of their cases, of which the suite tries few."""

import os
import subprocess
import sys

from tests.benchmarks.soak_scene import ROOT
from tests.support.cases import WITH_MORE_CASES

MARK = "every test passes with all of its cases"
# The soak sets some of its own, which are not for tests.
ENVIRONMENT = dict(os.environ)


def measure() -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *WITH_MORE_CASES], cwd=ROOT, env=ENVIRONMENT | {"CASES": "all"}
    )
    lines = [f"{'FAILED: ' if ended.returncode else ''}pytest ended with {ended.returncode}"]
    print(*lines, sep="\n", flush=True)
    return lines
