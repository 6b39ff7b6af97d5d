"""What was measured, as lines on the screen and in docs/performance.md."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.benchmarks.databases import ORDERS, PRODUCTS, ROOT, STORES, TOKENS
from tests.benchmarks.documents import write_between
from tests.benchmarks.open_loop import Outcome
from tests.benchmarks.ratios import GROWTH_MARK, Pace, Runs, cost_ratio, ratio, reaches
from tests.benchmarks.rows import Row
from tests.benchmarks.tail import TAIL_MARK

DOCUMENT = ROOT / "docs" / "performance.md"
UNDER = " **(under)**"
HEADING = """
`make bench` writes this section; it needs `wrk`. It compares the service with two other servers. The service runs as in
production, with one web worker and 8 threads. The *limit* is bare WSGI and psycopg on the same server, with the same
credential checks and statements but no framework. The *peer* returns the same response in the usual way, with nested
ModelSerializers and the OAuth toolkit's authentication class; for tokens, it is the toolkit with hashed secrets.

All three run in turn on the same machine and database, with {connections} connections. After an uncounted round,
{rounds} rounds of {seconds} s count. Ratios are medians over them, by rate / by processor time; both must reach the
mark. *CPU ms* is the worker's time + PostgreSQL's. The load average on {cores} shared cores was {before:.1f} before
the run and {after:.1f} after it. Rows wait up to a minute for a quiet machine; *busy* rows saw other work.
"""
ROWS_HEAD = """
| row | requests/s | p50 ms | p99 ms | CPU ms | limit CPU | queries | worker MB | of limit | times peer |
|---|---|---|---|---|---|---|---|---|---|
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
    tail: tuple[float, Outcome, Outcome] | None = None

    def summary(self) -> str:
        return "\n".join(line.lstrip("- ") for line in [*self._growth(), *self._tail()])

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
### With {self.scale} times the data

Each figure is a read's rate with {self.scale} times the data, divided by its normal rate
(mark: {GROWTH_MARK}). The normal database has {few}:

"""
        tail = "\n\n### Waiting times at 70% load\n\n"
        return (
            heading + ROWS_HEAD + rows + "\n" + growth
            + "\n".join(self._growth()) + tail + "\n".join(self._tail()) + "\n"
        )  # fmt: skip

    def _row(self, row: Row, results: Mapping[str, Runs]) -> str:
        ours = results["ours"]
        title = f"{row.title} *(busy)*" if ours.is_busy else row.title
        cells = [title, f"{ours.median('rate'):.0f}", f"{ours.median('p50'):.1f}"]
        cells += [f"{ours.median('p99'):.1f}", _costs(ours)]
        cells += [_costs(results["limit"]) if "limit" in results else ""]
        cells += [str(self.statements[row.title]), f"{ours.memory:.0f}"]
        for other in ("limit", "peer"):
            cells.append(_cell(results, other, row.marks[other]) if other in results else "")
        return "| " + " | ".join(cells) + " |"

    def _growth(self) -> Iterator[str]:
        for title, (kept, cost) in self.growth.items():
            verdict = "" if kept >= GROWTH_MARK else UNDER
            yield f"- {title}: {kept:.2f}{verdict}, with {cost:.2f} times the processor time"

    def _tail(self) -> Iterator[str]:
        if self.tail:
            rate, outcome, least = self.tail
            p50, p99 = outcome.percentile(0.5), outcome.percentile(0.99)
            good = p99 <= TAIL_MARK and not outcome.refused + outcome.broken
            yield (
                f"The load sends {rate:.0f} requests a second on schedule, without waiting for earlier ones. The "
                f"p50 was {p50:.2f} ms and the p99 {p99:.2f} ms (mark: p99 at most {TAIL_MARK} ms"
                f"{'' if good else UNDER}). "
                f"{outcome.refused + outcome.broken} of {len(outcome.times)} requests failed. The *limit* was measured "
                f"directly afterwards, at the same rate: its p50 was {least.percentile(0.5):.2f} ms and its p99 "
                f"{least.percentile(0.99):.2f} ms."
            )


def write_report(report: Report) -> None:
    write_between(DOCUMENT, "api", report.text())


def _costs(runs: Runs) -> str:
    return " + ".join(f"{cost:.2f}" for cost in runs.costs)


def _cell(results: Mapping[str, Runs], other: str, mark: float) -> str:
    found = ratio(results, other), cost_ratio(results, other)
    shown = " / ".join(f"{each:.2f}" if each < 10 else f"{each:.0f}" for each in found)
    return shown if not mark else f"{shown} (≥ {mark}{'' if reaches(results, other, mark) else UNDER})"
