"""Proofs over whole HTTP requests: `python -m tests.benchmarks.proofs` (needs `wrk`). Writes docs/performance.md."""

import argparse
import json
import os
import re
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from tests.benchmarks.databases import DOCUMENT, use_database
from tests.benchmarks.load import JSON, NEW, Load, Sent, put_load, require_wrk
from tests.benchmarks.proof_limit import Limit
from tests.benchmarks.proof_rows import (
    Asking,
    make_photo_card,
    node_line,
    peer_lines,
    photo_line,
    renderer_line,
)
from tests.benchmarks.servers import Server, running
from tests.support.figures import write_between
from tests.support.servers.processes import processor_seconds

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
PROOF_TABLE = """\
| row | requests/s | p50 ms | p95 ms | CPU ms | of limit | target |
|---|---|---|---|---|---|---|
"""
OTHER_TABLE = """

| what | measured | target |
|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    title: str
    product: str
    mark: str
    reached: Callable[[Load], bool]
    connections: int = 1
    is_new: bool = True
    # How many renderers the limit has, and the least of its rate; 0 where there is none.
    renderers: int = 0
    of_limit: float = 0.0
    # An order of the card in place of its proof.
    is_order: bool = False


ROWS = [
    Row(
        "two-sided business card, new data",
        CARD,
        "p50 ≤ 20 ms, p95 ≤ 30 ms",
        lambda it: it.p50 <= 20 and it.p95 <= 30,
        renderers=1,
        of_limit=0.8,
    ),
    Row("the same data again", CARD, "p50 ≤ 6 ms", lambda it: it.p50 <= 6, is_new=False),
    Row(
        f"business card, new data, {AT_ONCE} connections",
        CARD,
        "≥ 80/s",
        lambda it: it.rate >= 80,
        connections=AT_ONCE,
        renderers=2,
        of_limit=0.75,
    ),
    Row("8-page booklet, new data", BOOKLET, "p50 ≤ 90 ms", lambda it: it.p50 <= 90, renderers=1),
    Row(
        f"order of the card with its print file, new data, {AT_ONCE} connections",
        CARD,
        "≥ 120/s",
        lambda it: it.rate >= 120,
        connections=AT_ONCE,
        is_order=True,
    ),
]


def main() -> None:
    arguments = _arguments()
    require_wrk()
    use_database("bench_proofs", anew=True, METRICS_NETWORKS="127.0.0.0/8")
    headers, samples = _load()
    with running("ours", threads=THREADS) as server:
        asking = Asking(headers, CARD, VARIED[CARD], samples[CARD])
        lines = []
        for row in ROWS:
            lines.append(_line(server, row, headers, samples[row.product], arguments.seconds))
            if row is ROWS[0]:
                stages = _stages(server)
        lines.append(_memory_line(server, asking))
        more = [*peer_lines(server, asking), photo_line(server, headers)]
        more += [node_line(server, asking, THREADS), renderer_line(server)]
    load = f"Load average during the run: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    text = PROOF_TABLE + "\n".join(lines) + OTHER_TABLE + "\n".join(more) + f"\n\n{stages}\n{load}\n"
    print(text)
    if arguments.write:
        write_between(DOCUMENT, "proofs", text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.proofs", description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _load() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """A store with the products; the credentials of an application that is associated with it."""
    from printing.typesetting import load_sample
    from tests.benchmarks.data import headers_of, lift_limits
    from tests.factories.orders import make_design
    from tests.factories.templates import TEMPLATES, make_demo_product
    from tests.support.scenario import build_world

    world = build_world()
    lift_limits()
    for name in (CARD, BOOKLET):
        make_demo_product(world.associated, name)
    make_photo_card(world.associated)
    make_design(world.associated, CARD, ORDERED)
    return headers_of(world.application), {name: load_sample(TEMPLATES / name) for name in (CARD, BOOKLET)}


def _line(server: Server, row: Row, headers: dict[str, str], sample: dict[str, str], seconds: int) -> str:
    """The medians of rounds in turn with the limit, and the share of its rate and processor time."""
    sent = _sent(row, headers, {**sample, VARIED[row.product]: f"Ada {NEW}" if row.is_new else "Ada"})
    ours, costs, limit, part = [], [], [], max(1, seconds // ROUNDS)
    with ExitStack() as opened:
        alone = Limit(row.product, VARIED[row.product], row.renderers, opened) if row.renderers else None
        for turn in range(ROUNDS + 1):
            before = processor_seconds(server.pid)
            load = put_load(server.url, sent, seconds=part, connections=row.connections)
            cost = 1000 * (processor_seconds(server.pid) - before) / max(1, load.count)
            # wrk leaves requests behind, which would hold slots of the caller.
            server.wait_until_idle()
            made = alone.measure(part) if alone else None
            # The first round reads fonts and is not counted.
            if turn:
                ours.append(load)
                costs.append(cost)
                limit.append(made)
    figures = Load(
        *(median(getattr(run, name) for run in ours) for name in ("rate", "p50", "p95", "p99")),
        failures=sum(run.failures for run in ours),
        count=sum(run.count for run in ours),
    )
    of_limit = ""
    if alone:
        rate = median(run.rate / other.rate for run, other in zip(ours, limit, strict=True))
        busy = median(other.processor_ms / cost for cost, other in zip(costs, limit, strict=True))
        mark = f" (≥ {row.of_limit}{'' if rate >= row.of_limit else ' **(missed)**'})" if row.of_limit else ""
        of_limit = f"{rate:.2f} / {busy:.2f}{mark}"
    good = row.reached(figures) and not figures.failures
    times = [f"{figures.p50:.1f}", f"{figures.p95:.1f}", f"{median(costs):.1f}"]
    shown = " | ".join([row.title, f"{figures.rate:.0f}", *times, of_limit, row.mark])
    return f"| {shown}{'' if good else ' **(missed)**'} |"


def _sent(row: Row, headers: dict[str, str], values: dict[str, str]) -> Sent:
    path, body = f"product/{row.product}/proof", values
    if row.is_order:
        from tests.factories.orders import RECIPIENT

        item = {"ProductID": ORDERED, "Quantity": 100, "TemplateData": values}
        path, body = "order", {"Items": [item], "Recipient": RECIPIENT}
    return Sent(f"/api/v1/store/associated/{path}", {**headers, **JSON}, json.dumps(body).encode())


def _stages(server: Server) -> str:
    """The milliseconds of each stage on average, as the service reports them."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=30) as response:
        text = response.read().decode()
    figures = re.findall(r'fulfillment_proof_stage_seconds_(sum|count){stage="([^"]+)"} (\S+)', text)
    seconds_by_stage = {(kind, name): float(value) for kind, name, value in figures}
    most = max(seconds_by_stage["count", name] for kind, name in seconds_by_stage)
    # Without those of the template's own check.
    names = [
        name
        for kind, name in seconds_by_stage
        if kind == "sum" and seconds_by_stage["count", name] > most / 2
    ]
    shown = [
        f"{name} {1000 * seconds_by_stage['sum', name] / seconds_by_stage['count', name]:.1f}"
        for name in names
    ]
    return f"Stages of a new card, milliseconds on average: {', '.join(shown)}."


def _memory_line(server: Server, asking: Asking) -> str:
    server.wait_until_idle()
    parts = []
    for count in (FEW, MANY - FEW):
        asking.make_proofs([server], count, at_once=AT_ONCE)
        parts.append(server.memory())
    good = parts[1] <= 1.2 * parts[0]
    text = f"{parts[0]:.0f} MB after {FEW:,} proofs, {parts[1]:.0f} MB after {MANY:,}"
    return f"| memory of the worker and its renderers | | | | | | {text}: ≤ 1.2 ×{'' if good else ' **(missed)**'} |"


if __name__ == "__main__":
    main()
