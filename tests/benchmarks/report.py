"""What was measured, as lines on the screen and in docs/performance.md."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.benchmarks.capacity import arithmetic
from tests.benchmarks.databases import ORDERS, PRODUCTS, ROOT, STORES, TOKENS
from tests.benchmarks.documents import write_between
from tests.benchmarks.open_loop import Outcome
from tests.benchmarks.ratios import GROWTH_MARK, Pace, Runs, cost_ratio, ratio, reaches
from tests.benchmarks.rows import ROWS, Row
from tests.benchmarks.steady import FLAT_MARK, MEMORY_MARK, TAIL_MARK, WORKERS_MARK, Workers

DOCUMENT, SCALING = ROOT / "docs" / "performance.md", ROOT / "docs" / "scaling.md"
UNDER = " **(under)**"
HEADING = """
Written by `make bench` (needs `wrk`): the service as in production, one web worker with 8 threads, beside

- a *limit*: bare WSGI and psycopg on the same server, the same credential checks and the same statements, no framework;
- a *peer*: the same answer the usual way, nested ModelSerializers and the OAuth toolkit's own authentication class; for
  tokens the toolkit as it comes, with hashed secrets;
- *ninja*: the same answer through django-ninja, nested schemas and the ORM.

All run on the same machine and database, in turn, {rounds} rounds of {seconds} s with {connections} connections after
a round that is not counted; ratios are medians over the rounds, by rate / by processor time, and both must reach the
mark. Processor time is that of the worker + that of PostgreSQL. {cores} cores are shared by the server, PostgreSQL and
the load; load average {before:.1f} before the run and {after:.1f} after it. Each row waits up to a minute for a quiet
machine; *busy* are those beside which other work took more than a tenth of the processors.
"""
ROWS_HEAD = """
| row | requests/s | p50 ms | p99 ms | CPU ms | limit CPU | queries | worker MB | of limit | times peer | times ninja |
|---|---|---|---|---|---|---|---|---|---|---|
"""


@dataclass
class Report:
    pace: Pace
    statements: Mapping[str, int]
    load_before: float
    load_after: float = 0
    rows: dict[Row, dict[str, Runs]] = field(default_factory=dict)
    growth: dict[str, tuple[float, float]] = field(default_factory=dict)
    scale: int = 0
    workers: Workers | None = None
    tail: tuple[float, Outcome, Outcome] | None = None
    memory: list[tuple[int, float]] = field(default_factory=list)

    def summary(self) -> str:
        return "\n".join(line.lstrip("- ") for line in [*self._growth(), *self._steady()])

    def text(self) -> str:
        heading = HEADING.format(
            rounds=self.pace.rounds,
            seconds=self.pace.seconds,
            connections=self.pace.connections,
            cores=os.cpu_count(),
            before=self.load_before,
            after=self.load_after,
        )
        rows = "\n".join(self._row(row, runs) for row, runs in self.rows.items())
        few = f"{STORES:,} stores, {PRODUCTS:,} products, {ORDERS:,} orders and {TOKENS:,} access tokens"
        growth = f"""
### Beside {self.scale} times the data

Each read keeps so much of its own rate (mark: {GROWTH_MARK}) when there is {self.scale} times as much as
{few}:

"""
        steady = "\n\n### Workers, waiting times, memory\n\n"
        return (
            heading + ROWS_HEAD + rows + "\n" + growth
            + "\n".join(self._growth()) + steady + "\n".join(self._steady()) + "\n"
        )  # fmt: skip

    def _row(self, row: Row, results: Mapping[str, Runs]) -> str:
        ours = results["ours"]
        title = f"{row.title} *(busy)*" if ours.is_busy else row.title
        cells = [title, f"{ours.median('rate'):.0f}", f"{ours.median('p50'):.1f}"]
        cells += [f"{ours.median('p99'):.1f}", _costs(ours)]
        cells += [_costs(results["limit"]) if "limit" in results else ""]
        cells += [str(self.statements[row.title]), f"{ours.memory:.0f}"]
        for other in ("limit", "peer", "ninja"):
            cells.append(_cell(results, other, row.marks[other]) if other in results else "")
        return "| " + " | ".join(cells) + " |"

    def _growth(self) -> Iterator[str]:
        for title, (kept, cost) in self.growth.items():
            verdict = "" if kept >= GROWTH_MARK else UNDER
            yield f"- {title}: {kept:.2f}{verdict}, with {cost:.2f} times the processor time"

    def _steady(self) -> Iterator[str]:
        if self.workers:
            found, (alone, together) = self.workers, self.workers.per_second
            whole = found.two / found.halved
            yield (
                f"- Two workers on two cores do {found.two:.0f} requests/s, {whole:.2f} times one worker on one core "
                f"({found.halved:.0f}/s): the database and the load take their part of the same cores. That is "
                f"{found.two / found.one:.2f} times one worker that has both cores ({found.one:.0f}/s), of which the "
                "second serves the database and the load."
            )
            yield (
                f"- For each second of processor time a worker answers {alone:.0f} requests alone and {together:.0f} "
                f"as one of two: {together / alone:.2f} of it, so by processor time, with the database and the load on "
                f"other cores, two do {2 * together / alone:.2f} times the work of one (mark: {WORKERS_MARK}"
                f"{'' if 2 * together / alone >= WORKERS_MARK else UNDER})."
            )
        if self.tail:
            rate, outcome, least = self.tail
            p50, p99 = outcome.percentile(0.5), outcome.percentile(0.99)
            good = p99 <= TAIL_MARK * p50 and not outcome.refused + outcome.broken
            yield (
                f"- At 70 % load ({rate:.0f} requests/s, sent when due whether earlier ones were answered or not): p50 "
                f"{p50:.2f} ms, p99 {p99:.2f} ms, {p99 / p50:.1f} times (mark: at most {TAIL_MARK:g}"
                f"{'' if good else UNDER}); {outcome.refused + outcome.broken} of {len(outcome.times)} failed. The "
                f"limit at this rate, directly afterwards: p50 {least.percentile(0.5):.2f} ms, p99 "
                f"{least.percentile(0.99):.2f} ms."
            )
        if self.memory:
            # Flat: the second half of the requests adds next to nothing.
            (_, half), (_, last) = self.memory[-2:]
            good = last <= MEMORY_MARK and last <= half * FLAT_MARK
            steps = ", ".join(f"{megabytes:.0f} MB around {number:,}" for number, megabytes in self.memory)
            yield (
                f"- Memory of a worker: {steps} requests (marks: at most {MEMORY_MARK} MB, and flat"
                f"{'' if good else UNDER})."
            )


def write_report(report: Report) -> None:
    write_between(DOCUMENT, "api", report.text())
    costs = {row.title: runs["ours"].costs for row, runs in report.rows.items()}
    if len(costs) < len(ROWS):
        return
    write_between(SCALING, "arithmetic", arithmetic(costs))


def _costs(runs: Runs) -> str:
    return " + ".join(f"{cost:.2f}" for cost in runs.costs)


def _cell(results: Mapping[str, Runs], other: str, mark: float) -> str:
    found = ratio(results, other), cost_ratio(results, other)
    shown = " / ".join(f"{each:.2f}" if each < 10 else f"{each:.0f}" for each in found)
    return shown if not mark else f"{shown} (≥ {mark}{'' if reaches(results, other, mark) else UNDER})"
