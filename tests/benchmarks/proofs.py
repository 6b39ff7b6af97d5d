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
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.load import require_wrk
from tests.benchmarks.proof_limit import Limit
from tests.benchmarks.proof_rows import (
    make_photo_card,
    node_lines,
    peer_lines,
    photo_lines,
    proof_of,
    renderer_line,
)
from tests.benchmarks.ratios import wait_until_idle
from tests.benchmarks.servers import Server, running
from tests.support.figures import write_between
from tests.support.processes import processor_seconds

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "performance.md"
CARD, BOOKLET = "business-card-standard", "booklet-8-page-5.5x8.5"
# The card with prices.
ORDERED = "ordered-card"
# The field that is different in each request.
VARIED = {CARD: "Name", BOOKLET: "Greeting"}
FEW, MANY = 200, 2000
# One less than one caller may hold of THREADS: a request may arrive before the one it follows has let go of its slot.
AT_ONCE = 5
# Of the web worker: two thirds of three quarters of them may work for one caller.
THREADS = 12
# In turn for the service and the limit.
ROUNDS = 5
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
    # Processor milliseconds of the web worker and its renderers for one proof.
    busy: float


@dataclass(frozen=True)
class Row:
    title: str
    product: str
    new: bool
    connections: int
    mark: str
    reached: Callable[[Figures], bool]
    # How many renderers the limit has, and the least of its rate; 0 where there is none.
    renderers: int = 0
    of_limit: float = 0.0
    # An order of the card in place of its proof.
    is_order: bool = False


ROWS = [
    Row(
        "two-sided business card, new data",
        CARD,
        True,
        1,
        "p50 ≤ 20 ms, p95 ≤ 30 ms",
        lambda it: it.p50 <= 20 and it.p95 <= 30,
        renderers=1,
        of_limit=0.8,
    ),
    Row("the same data again", CARD, False, 1, "p50 ≤ 6 ms", lambda it: it.p50 <= 6),
    Row(
        f"business card, new data, {AT_ONCE} connections",
        CARD,
        True,
        AT_ONCE,
        "≥ 80/s",
        lambda it: it.rate >= 80,
        renderers=2,
        of_limit=0.75,
    ),
    Row(
        "8-page booklet, new data",
        BOOKLET,
        True,
        1,
        "p50 ≤ 90 ms",
        lambda it: it.p50 <= 90,
        renderers=1,
    ),
    Row(
        f"order of the card with its print file, new data, {AT_ONCE} connections",
        CARD,
        True,
        AT_ONCE,
        "≥ 120/s",
        lambda it: it.rate >= 120,
        is_order=True,
    ),
]


def main() -> None:
    arguments = _arguments()
    require_wrk()
    media = Path(tempfile.mkdtemp(prefix="bench-media-"))
    try:
        _prepare_environment(media)
        headers, samples = _load()
        with running("ours", threads=THREADS) as server:
            stages: dict[str, float] = {}
            lines = list(_measure(server, headers, samples, arguments, stages))
            more = list(_more(server, headers, samples[CARD])) if arguments.more else []
        shown = ", ".join(f"{name} {spent:.1f}" for name, spent in stages.items())
        stage_line = f"Stages of a new card, milliseconds on average: {shown}."
        print(stage_line)
        load = f"Load average during the run: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
        if arguments.write:
            _write(lines, more, f"{stage_line}\n{load}")
    finally:
        shutil.rmtree(media, ignore_errors=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.proofs", description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--memory", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--more", action=argparse.BooleanOptionalAction, default=True)
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
        METRICS_NETWORKS="127.0.0.0/8",
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
    from tests.factories.orders import make_design
    from tests.factories.templates import TEMPLATES, make_demo_product
    from tests.support.scenario import build_world

    world = build_world()
    lift_limits()
    for name in (CARD, BOOKLET):
        make_demo_product(world.associated, name)
    make_photo_card(world.associated)
    make_design(world.associated, CARD, ORDERED)
    client = world.as_application()
    headers = {"Authorization": f"Bearer {client.token}", "Ocp-Apim-Subscription-Key": client.key}
    return headers, {name: load_sample(TEMPLATES / name) for name in (CARD, BOOKLET)}


def _measure(
    server: Server,
    headers: dict[str, str],
    samples: dict[str, dict[str, str]],
    arguments: argparse.Namespace,
    stages: dict[str, float],
) -> Iterator[str]:
    for row in ROWS:
        _put_load(server, row, headers, samples, 2)
        # wrk leaves requests behind, which would hold slots of the caller.
        wait_until_idle(server)
        figures, of_limit = _beside_limit(server, row, headers, samples, arguments.seconds)
        good = row.reached(figures) and not figures.failures
        times = [f"{figures.p50:.1f}", f"{figures.p95:.1f}", f"{figures.busy:.1f}"]
        shown = [row.title, f"{figures.rate:.0f}", *times, of_limit, row.mark]
        yield "| " + " | ".join(shown) + ("" if good else " **(missed)**") + " |"
        print(row.title, figures, f"of limit {of_limit}", "reached" if good else "MISSED")
        if row is ROWS[0]:
            stages.update(_stages(server))
    if arguments.memory:
        wait_until_idle(server)
        few, many = _memory(server, headers, samples[CARD])
        good = many <= 1.2 * few
        text = f"{few:.0f} MB after {FEW:,} proofs, {many:.0f} MB after {MANY:,}"
        yield f"| memory of the worker and its renderers | | | | | | {text}: ≤ 1.2 ×{'' if good else ' **(missed)**'} |"
        print(text, "reached" if good else "MISSED")


def _more(server: Server, headers: dict[str, str], sample: dict[str, str]) -> Iterator[str]:
    def vary(text: str) -> dict[str, str]:
        return {**sample, VARIED[CARD]: text}

    yield from peer_lines(lambda text: proof_of(server, CARD, vary(text), headers), CARD, VARIED[CARD])
    yield from photo_lines(server, headers)
    yield from node_lines(server, headers, CARD, vary, THREADS)
    yield renderer_line(server)


def _stages(server: Server) -> dict[str, float]:
    """The milliseconds of each stage on average, as the service reports them."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=30) as response:
        text = response.read().decode()
    figures = re.findall(r'fulfillment_proof_stage_seconds_(sum|count){stage="([^"]+)"} (\S+)', text)
    found = {(kind, name): float(value) for kind, name, value in figures}
    most = max(found["count", name] for kind, name in found)
    # Without those of the template's own check.
    names = [name for kind, name in found if kind == "sum" and found["count", name] > most / 2]
    return {name: 1000 * found["sum", name] / found["count", name] for name in names}


def _beside_limit(
    server: Server, row: Row, headers: dict[str, str], samples: dict[str, dict[str, str]], seconds: int
) -> tuple[Figures, str]:
    """The medians of the service over rounds in turn with the limit, and its share of the limit's rate and processor
    time."""
    if not row.renderers:
        return _put_load(server, row, headers, samples, seconds), ""
    ours, limit, part = [], [], max(1, seconds // ROUNDS)
    with ExitStack() as opened:
        alone = Limit(row.product, VARIED[row.product], row.renderers, opened)
        alone.measure(1)
        for _ in range(ROUNDS):
            ours.append(_put_load(server, row, headers, samples, part))
            wait_until_idle(server)
            limit.append(alone.measure(part))
    figures = Figures(
        *(median(getattr(one, name) for one in ours) for name in ("rate", "p50", "p95")),
        sum(one.failures for one in ours),
        median(one.busy for one in ours),
    )
    rate = median(one.rate / other.rate for one, other in zip(ours, limit, strict=True))
    busy = median(other.processor_ms / one.busy for one, other in zip(ours, limit, strict=True))
    mark = f" (≥ {row.of_limit}{'' if rate >= row.of_limit else ' **(under)**'})" if row.of_limit else ""
    return figures, f"{rate:.2f} / {busy:.2f}{mark}"


def _put_load(
    server: Server, row: Row, headers: dict[str, str], samples: dict[str, dict[str, str]], seconds: int
) -> Figures:
    path, sample = _sent(row, {**samples[row.product], VARIED[row.product]: "Ada @@"})
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
        command.append(f"{server.url}/api/v1/store/associated/{path}")
        busy = processor_seconds(server.pid)
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    busy = processor_seconds(server.pid) - busy
    requests, p50, p95, failures = re.search(r"FIGURES (\S+) (\S+) (\S+) (\S+)", output).groups()
    rate = int(requests) / seconds
    return Figures(rate, float(p50), float(p95), int(failures), 1000 * busy / max(1, int(requests)))


def _sent(row: Row, values: dict[str, str]) -> tuple[str, dict[str, Any]]:
    """The address below the store, and the body."""
    if not row.is_order:
        return f"product/{row.product}/proof", values
    from tests.factories.orders import RECIPIENT

    item = {"ProductID": ORDERED, "Quantity": 100, "TemplateData": values}
    return "order", {"Items": [item], "Recipient": RECIPIENT}


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


def _write(lines: list[str], more: list[str], load: str) -> None:
    heading = (
        "| row | requests/s | p50 ms | p95 ms | CPU ms | of limit | mark |\n|---|---|---|---|---|---|---|\n"
    )
    table = "\n".join(["\n\n| what | measured | mark |\n|---|---|---|", *more]) if more else ""
    write_between(DOCUMENT, "proofs", heading + "\n".join(lines) + f"{table}\n\n{load}\n")


if __name__ == "__main__":
    main()
