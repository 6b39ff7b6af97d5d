"""Proofs over whole HTTP requests: `python -m tests.benchmarks.proofs` (needs `wrk`). Writes docs/performance.md."""

import argparse
import http.client
import itertools
import json
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.benchmarks.documents import write_between
from tests.benchmarks.load import require_wrk
from tests.benchmarks.ratios import wait_until_idle
from tests.benchmarks.servers import Server, running

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "performance.md"
CARD, BOOKLET = "business-card-standard", "booklet-8-page-5.5x8.5"
# The field that is different in each request.
VARIED = {CARD: "Name", BOOKLET: "Greeting"}
FEW, MANY = 200, 2000
# One less than one caller may hold of 8 threads: a request may arrive before the one it follows has let go of its slot.
AT_ONCE = 5
SCRIPT = """
local body = [[%(body)s]]
local run, count = "%(run)s", 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
function request()
  count = count + 1
  local mark = %(new)s and string.format("%%s%%d", run, count) or "the same"
  return wrk.format(nil, nil, nil, (body:gsub("@@", mark)))
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("FIGURES %%d %%f %%f %%d\\n", summary.requests,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"""


@dataclass(frozen=True)
class Figures:
    rate: float
    p50: float
    p95: float
    failures: int


@dataclass(frozen=True)
class Row:
    title: str
    product: str
    new: bool
    connections: int
    mark: str
    reached: Callable[[Figures], bool]


ROWS = [
    Row(
        "two-sided business card, new data",
        CARD,
        True,
        1,
        "p50 ≤ 30 ms, p95 ≤ 40 ms",
        lambda it: it.p50 <= 30 and it.p95 <= 40,
    ),
    Row("the same data again", CARD, False, 1, "p50 ≤ 6 ms", lambda it: it.p50 <= 6),
    Row(
        f"business card, new data, {AT_ONCE} connections",
        CARD,
        True,
        AT_ONCE,
        "≥ 50/s",
        lambda it: it.rate >= 50,
    ),
    Row("8-page booklet, new data", BOOKLET, True, 1, "p50 ≤ 120 ms", lambda it: it.p50 <= 120),
]


def main() -> None:
    arguments = _arguments()
    require_wrk()
    media = Path(tempfile.mkdtemp(prefix="bench-media-"))
    try:
        _prepare_environment(media)
        headers, samples = _load()
        with running("ours") as server:
            lines = list(_measure(server, headers, samples, arguments))
        load = f"Load average during the run: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
        if arguments.write:
            _write(lines, load)
    finally:
        shutil.rmtree(media, ignore_errors=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.proofs", description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--memory", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _prepare_environment(media: Path) -> None:
    """Production's settings, but for what needs https; a durable database of its own, made anew each time."""
    import psycopg

    from fulfillment.local.postgres import ensure_running

    url = ensure_running(ROOT / "var" / "bench-postgres")
    own = urlsplit(url)._replace(path="/bench_proofs").geturl()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS bench_proofs WITH (FORCE)")
        connection.execute("CREATE DATABASE bench_proofs")
    os.environ.update(
        FULFILLMENT_MODE="development",
        DJANGO_SETTINGS_MODULE="fulfillment.settings",
        DATABASE_URL=own,
        MEDIA_ROOT=str(media),
        **{
            name: secrets.token_urlsafe(48)
            for name in ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
        },
    )


def _load() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """A store with the two products; the credentials of an application that is associated with it."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from printing.typesetting import load_sample
    from tests.benchmarks.data import lift_limits
    from tests.factories.templates import TEMPLATES, make_demo_product
    from tests.support.scenario import build_world

    world = build_world()
    lift_limits()
    for name in (CARD, BOOKLET):
        make_demo_product(world.associated, name)
    client = world.as_application()
    headers = {"Authorization": f"Bearer {client.token}", "Ocp-Apim-Subscription-Key": client.key}
    return headers, {name: load_sample(TEMPLATES / name) for name in (CARD, BOOKLET)}


def _measure(
    server: Server, headers: dict[str, str], samples: dict[str, dict[str, str]], arguments: argparse.Namespace
) -> Iterator[str]:
    for row in ROWS:
        _put_load(server, row, headers, samples, 2)
        # wrk leaves requests behind, which would hold slots of the caller.
        wait_until_idle(server)
        figures = _put_load(server, row, headers, samples, arguments.seconds)
        good = row.reached(figures) and not figures.failures
        shown = [row.title, f"{figures.rate:.0f}", f"{figures.p50:.1f}", f"{figures.p95:.1f}", row.mark]
        yield "| " + " | ".join(shown) + ("" if good else " **(missed)**") + " |"
        print(row.title, figures, "reached" if good else "MISSED")
    if arguments.memory:
        wait_until_idle(server)
        few, many = _memory(server, headers, samples[CARD])
        good = many <= 1.2 * few
        text = f"{few:.0f} MB after {FEW:,} proofs, {many:.0f} MB after {MANY:,}"
        yield f"| memory of the worker and its renderers | | | | {text}: ≤ 1.2 ×{'' if good else ' **(missed)**'} |"
        print(text, "reached" if good else "MISSED")


def _put_load(
    server: Server, row: Row, headers: dict[str, str], samples: dict[str, dict[str, str]], seconds: int
) -> Figures:
    sample = {**samples[row.product], VARIED[row.product]: "Ada @@"}
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        new = "true" if row.new else "false"
        script.write(SCRIPT % {"body": json.dumps(sample), "run": secrets.token_hex(3), "new": new})
        script.flush()
        command = [
            "wrk",
            "-t1",
            f"-c{row.connections}",
            f"-d{seconds}s",
            "--timeout",
            "20s",
            "-s",
            script.name,
        ]
        for name, value in headers.items():
            command += ["-H", f"{name}: {value}"]
        command.append(f"{server.url}/api/v1/store/associated/product/{row.product}/proof")
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    requests, p50, p95, failures = re.search(r"FIGURES (\S+) (\S+) (\S+) (\S+)", output).groups()
    return Figures(int(requests) / seconds, float(p50), float(p95), int(failures))


def _memory(server: Server, headers: dict[str, str], sample: dict[str, str]) -> tuple[float, float]:
    numbers = itertools.count()
    found = []
    for target in (FEW, MANY):
        threads = [
            threading.Thread(target=_ask, args=(server, headers, sample, numbers, target))
            for _ in range(AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found.append(server.memory())
    return found[0], found[1]


def _ask(
    server: Server, headers: dict[str, str], sample: dict[str, str], numbers: Iterator[int], target: int
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    while (number := next(numbers)) < target:
        body = json.dumps({**sample, VARIED[CARD]: f"Ada {number}"})
        path = f"/api/v1/store/associated/product/{CARD}/proof"
        connection.request("POST", path, body, {**headers, "Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        if response.status != http.client.OK:
            raise RuntimeError(content.decode())


def _write(lines: list[str], load: str) -> None:
    heading = "| row | requests/s | p50 ms | p95 ms | mark |\n|---|---|---|---|---|\n"
    write_between(DOCUMENT, "proofs", heading + "\n".join(lines) + f"\n\n{load}\n")


if __name__ == "__main__":
    main()
