"""Load from wrk (Debian package `wrk`), and what it measured."""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

REQUIRED = "make bench needs wrk on the PATH (on Debian and Ubuntu: apt install wrk)."
UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True)
class Load:
    """One run: answers a second, latencies in milliseconds, answers that were not 2xx or 3xx."""

    rate: float
    p50: float
    p99: float
    failures: int


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        sys.exit(REQUIRED)


def put_load(url: str, headers: dict[str, str], *, seconds: int, connections: int) -> Load:
    command = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    return read_load(subprocess.run([*command, url], check=True, capture_output=True, text=True).stdout)


def read_load(output: str) -> Load:
    """What wrk printed with --latency."""
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output)
    return Load(
        rate=float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1]),
        p50=_milliseconds(output, "50%"),
        p99=_milliseconds(output, "99%"),
        failures=(int(refused[1]) if refused else 0) + (sum(map(int, broken.groups())) if broken else 0),
    )


def _milliseconds(output: str, percentile: str) -> float:
    value, unit = re.search(rf"{percentile}\s+([\d.]+)(us|ms|s)", output).groups()
    return float(value) * UNITS[unit]
