"""Load from wrk (Debian package `wrk`), and what it measured."""

import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

REQUIRED = "make bench needs wrk on the PATH (on Debian and Ubuntu: apt install wrk)."
JSON = {"Content-Type": "application/json"}
# Stands in a body for what no other request has.
NEW = "@@"
CONSTANT = """
wrk.method = "POST"
wrk.body = [==[%(body)s]==]
"""
VARIED = """
wrk.method = "POST"
local body, count = [==[%(body)s]==], 0
function request()
  count = count + 1
  return wrk.format(nil, nil, nil, (body:gsub("@@", "%(run)s" .. count)))
end
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
FIGURES = """
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("FIGURES %d %f %f %f %f %d\\n", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"""


@dataclass(frozen=True)
class Sent:
    """A GET, or a POST of `body`; or a POST of `form` with one refresh token after another of a pool."""

    path: str
    headers: Mapping[str, str]
    body: bytes | None = None
    form: str = ""
    pool: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        if self.body is not None:
            body = self.body.decode()
            return (VARIED if NEW in body else CONSTANT) % {"body": body, "run": secrets.token_hex(3)}
        if self.pool:
            tokens = ", ".join(f'"{token}"' for token in self.pool)
            return POOL % {"pool": tokens, "form": self.form}
        return ""


@dataclass(frozen=True)
class Load:
    """One run: answers a second, latencies in milliseconds, answers that were not 2xx or 3xx."""

    rate: float
    p50: float
    p95: float
    p99: float
    failures: int
    count: int


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        sys.exit(REQUIRED)


def put_load(server: str, sent: Sent, *, seconds: int, connections: int) -> Load:
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s"]
    for name, value in sent.headers.items():
        command += ["-H", f"{name}: {value}"]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(sent.script + FIGURES)
        script.flush()
        command += ["-s", script.name, server + sent.path]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    count, taken, p50, p95, p99, failures = re.search(r"FIGURES (.*)", output)[1].split()
    return Load(int(count) / float(taken), float(p50), float(p95), float(p99), int(failures), int(count))
