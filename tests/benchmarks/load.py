"""Load from wrk (Debian package `wrk`), and what it measured."""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from tests.benchmarks.rows import Sent

REQUIRED = "make bench needs wrk on the PATH (on Debian and Ubuntu: apt install wrk)."
UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
CONSTANT = """
wrk.method = "POST"
wrk.body = [==[%(body)s]==]
"""
# Each answer brings the refresh token of a later request: a token is good for one.
POOL = """
wrk.method = "POST"
local pool = {%(pool)s}
function request()
  local token = table.remove(pool)
  if not token then return wrk.format(nil, "/healthz") end
  return wrk.format(nil, nil, nil, "%(form)s&refresh_token=" .. token)
end
function response(status, headers, body)
  local token = body:match('"refresh_token": *"([^"]+)"')
  if token then table.insert(pool, token) end
end
"""


@dataclass(frozen=True)
class Load:
    """One run: answers a second, latencies in milliseconds, answers that were not 2xx or 3xx."""

    rate: float
    p50: float
    p99: float
    failures: int
    count: int = 0


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        sys.exit(REQUIRED)


def put_load(url: str, headers: Mapping[str, str], *, seconds: int, connections: int) -> Load:
    return put_requests(url, Sent("", headers), seconds=seconds, connections=connections)


def put_requests(url: str, sent: Sent, *, seconds: int, connections: int) -> Load:
    command = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s"]
    headers = dict(sent.headers)
    form = headers.pop("X-Form", "")
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        if sent.body is not None:
            script.write(CONSTANT % {"body": sent.body.decode()})
        elif sent.pool:
            script.write(POOL % {"pool": ", ".join(f'"{token}"' for token in sent.pool), "form": form})
        script.flush()
        if sent.body is not None or sent.pool:
            command += ["-s", script.name]
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
        count=int(re.search(r"(\d+) requests in", output)[1]),
    )


def _milliseconds(output: str, percentile: str) -> float:
    value, unit = re.search(rf"{percentile}\s+([\d.]+)(us|ms|s)", output).groups()
    return float(value) * UNITS[unit]
