"""The import of a national EDDM file: `python -m tests.benchmarks.delivery`.

The input has real ZIP codes (package `zipcodes`) and invented counts: 657,232 routes, drawn so that its totals
resemble the published national ones. It is made anew each time and never kept.
"""

import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import zipcodes

from tests.benchmarks import MISSED
from tests.benchmarks.databases import ROOT, use_database

SEED = 20250101
MEANS = {"C": 590, "R": 500, "H": 220}


def main() -> int:
    use_database("bench_delivery")
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "national-2026-01.csv"
        routes = write_national_file(path)
        seconds, megabytes = time_import(path)
    _show(missed, f"import of {routes:,} routes", seconds, "s", 10)
    _show(missed, "peak memory of the import", megabytes, "MB", 300)
    return MISSED if missed else 0


def _show(missed: list[str], name: str, value: float, unit: str, limit: float) -> None:
    met = value <= limit
    if not met:
        missed.append(name)
    line = f"{'ok' if met else 'MISSED':6} {name}: {value:.2f} {unit} (at most {limit:g})"
    sys.stdout.write(line.replace(".00 ", " ") + "\n")


def write_national_file(path: Path) -> int:
    chance = random.Random(SEED)
    places = sorted(
        (place["zip_code"], place["zip_code_type"]) for place in zipcodes.list_all() if place["active"]
    )
    count = 0
    with path.open("w") as out:
        out.write("ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT\n")
        for code, kind in places:
            for letter, number, homes, firms in _routes_of(kind, chance):
                out.write(f"{code},{letter}{number:03d},{homes},{firms},{homes + firms}\n")
                count += 1
    return count


def _routes_of(kind: str, chance: random.Random) -> Iterator[tuple[str, int, int, int]]:
    if kind == "STANDARD":
        counts, boxes = _street_routes(chance)
        for letter, count in counts:
            for number in range(1, count + 1):
                homes = _between(chance.gauss(MEANS[letter], 170), 0, 1400)
                yield letter, number, homes, _between(chance.expovariate(1 / 38), 0, 500)
    elif kind == "PO BOX":
        boxes = _between(chance.lognormvariate(1.9, 0.8), 1, 80)
    else:
        yield ("C" if kind == "UNIQUE" else "B"), 1, 0, chance.randint(1, 60)
        return
    for number in range(1, boxes + 1):
        yield "B", number, _between(chance.gauss(40, 25), 0, 400), _between(chance.expovariate(1 / 9), 0, 200)
    yield "G", 1, 0, 0


def _street_routes(chance: random.Random) -> tuple[list[tuple[str, int]], int]:
    city = _between(chance.lognormvariate(1.55, 1.15), 0, 110)
    if chance.random() < 0.55:
        counts = [("C", city), ("R", _between(chance.expovariate(1 / 1.2), 0, 40))]
    else:
        rural = _between(chance.lognormvariate(1.3, 0.9), 1, 60)
        counts = [("R", rural), ("H", _between(chance.expovariate(1 / 1.1), 0, 12))]
    return counts, _between(chance.lognormvariate(2.02, 0.85), 0, 90)


def _between(value: float, low: int, high: int) -> int:
    return max(low, min(high, int(value)))


def standard_codes() -> list[str]:
    return [
        place["zip_code"]
        for place in zipcodes.list_all()
        if place["active"] and place["zip_code_type"] == "STANDARD"
    ]


def time_import(path: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of the command in a process of its own."""
    command = [sys.executable, "-m", "django", "import_eddm", str(path), "--force"]
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        # Not what wait4 says: that starts from the size of this process.
        match = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        peak = max(peak, int(match[1])) if match else peak
        time.sleep(0.02)
    if process.returncode:
        raise RuntimeError(f"the import ended with {process.returncode}")
    return time.perf_counter() - started, peak / 1024


if __name__ == "__main__":
    sys.exit(main())
