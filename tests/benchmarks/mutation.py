"""Changes the code that decides who may do what, one place at a time, and counts the changes no test notices.

`python -m tests.benchmarks.mutation [names]` works in a copy below var/mutants, for half an hour; what is changed and
which tests must notice stands in pyproject.toml. The database is one of its own.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from fulfillment.postgres import ensure_running

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "var" / "mutants"
COPIED = ("accounts", "applications", "delivery", "fulfillment", "static", "stores", "templates", "tests")


def main() -> int:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for name in COPIED:
        shutil.copytree(ROOT / name, WORK / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy(ROOT / name, WORK / name)
    environment = {
        **os.environ,
        "DATABASE_URL": ensure_running(ROOT / "var" / "mutation-postgres", durable=False),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    jobs = ["--max-children", os.environ.get("MUTATION_JOBS", "1")]
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", "run", *jobs, *sys.argv[1:]], cwd=WORK, env=environment, check=False
    )
    subprocess.run([sys.executable, "-m", "mutmut", "results"], cwd=WORK, env=environment, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
