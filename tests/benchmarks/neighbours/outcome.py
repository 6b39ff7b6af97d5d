"""What a good caller noticed, and how it is held against the mark."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.neighbours.good_caller import LONGEST_SECONDS, Timed

MARK = (
    "8 connections for 10 s: a good caller always answered, its median ≤ 5 × quiet or ≤ 50 ms, longest ≤ 1 s; "
    "/healthz longest ≤ 1 s; memory of web and worker ≤ 1.5 × before"
)
HEADINGS = (
    *("kind", "caller", "requests", "answers", "quiet", "median", "longest", "healthz", "unanswered"),
    *("web", "worker", "service", "attacker", "mark"),
)


@dataclass(frozen=True)
class Marks:
    """In seconds, and times the memory before."""

    quiet_times: float = 5
    median: float = 0.05
    longest: float = 1
    memory_times: float = 1.5


@dataclass
class Outcome:
    kind: str
    caller: str
    quiet: float
    read: Sequence[Timed] = ()
    health: Sequence[Timed] = ()
    statuses: Mapping[str, int] = field(default_factory=dict)
    # Most while it lasted by before, of web and worker.
    memory: Mapping[str, float] = field(default_factory=dict)
    service_seconds: float = 0
    attacker_seconds: float = 0
    stopped: str = ""

    @property
    def median(self) -> float:
        return statistics.median(seconds for _, seconds in self.read) if self.read else LONGEST_SECONDS

    @property
    def longest(self) -> float:
        return max((seconds for _, seconds in self.read), default=LONGEST_SECONDS)

    @property
    def longest_health(self) -> float:
        return max((seconds for _, seconds in self.health), default=LONGEST_SECONDS)

    @property
    def unanswered(self) -> Counter[str]:
        """A refusal is no answer to a good caller."""
        return Counter(status for status, _ in (*self.read, *self.health) if status != "200")

    def missed(self, marks: Marks) -> list[str]:
        allowed = max(marks.quiet_times * self.quiet, marks.median)
        found = {
            "median": self.median > allowed,
            "longest": self.longest > marks.longest,
            "healthz": self.longest_health > marks.longest,
            "unanswered": bool(self.unanswered),
            **{name: times > marks.memory_times for name, times in self.memory.items()},
            self.stopped: bool(self.stopped),
        }
        return [name for name, is_missed in found.items() if is_missed]

    def cells(self, marks: Marks) -> list[str]:
        times = [_milliseconds(each) for each in (self.quiet, self.median, self.longest, self.longest_health)]
        memory = [f"{self.memory.get(name, 0):.2f}x" for name in ("web", "worker")]
        processor = [f"{each:.1f} s" for each in (self.service_seconds, self.attacker_seconds)]
        missed = self.missed(marks)
        return [
            *(self.kind, self.caller, f"{sum(self.statuses.values()):,}", _counts(self.statuses), *times),
            *(_counts(self.unanswered), *memory, *processor),
            f"MISSED: {', '.join(missed)}" if missed else "reached",
        ]


def table(outcomes: Sequence[Outcome], marks: Marks) -> list[str]:
    rows = [list(HEADINGS), *(each.cells(marks) for each in outcomes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms"


def _counts(counted: Mapping[str, int]) -> str:
    return " ".join(f"{status}:{count}" for status, count in sorted(counted.items())) or "-"
