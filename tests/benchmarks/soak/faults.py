"""Disks, names, mail server, bucket, clock, files, memory and connections fail one after the other.

As a module of its own it runs within a mount namespace, on demo data, and writes what it saw as JSON.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

MARK = "/readyz names the part, reads go on where they can, nothing lost, doubled or in halves, well again by itself"


def measure() -> Iterator[str]:
    from tests.support.servers.fault_scene import namespace_refused

    if refused := namespace_refused():
        yield f"skipped: small file systems of its own are not allowed here. {refused}"
        return
    report = outcomes()
    yield from (
        f"FAILED: {outcome['fault']}: {each}"
        for outcome in report["outcomes"]
        for each in outcome["failures"]
    )
    yield from (f"FAILED: at the end: {each}" for each in report["left"][:10])


def outcomes(names: Sequence[str] = ()) -> dict[str, Any]:
    from tests.support.servers.fault_scene import in_namespace

    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        file = Path(folder) / "found.json"
        subprocess.run(in_namespace("-m", "tests.benchmarks.soak.faults", str(file), *names), check=True)
        report: dict[str, Any] = json.loads(file.read_text())
        return report


def main() -> None:
    import django

    django.setup()
    from tests.support.servers import faults

    print("| fault | /readyz says | reads | orders | uploads | well again after |", flush=True)
    seen, left = faults.run(sys.argv[2:], report=lambda outcome: print(faults.line_of(outcome), flush=True))
    Path(sys.argv[1]).write_text(
        json.dumps({"outcomes": [asdict(outcome) for outcome in seen], "left": left})
    )


if __name__ == "__main__":
    main()
