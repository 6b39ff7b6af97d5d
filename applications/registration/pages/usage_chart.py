"""The chart of an application's calls by day."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from applications.registration.models import DailyUsage

DAYS = 30
WIDTH, HEIGHT, GAP = 600, 120, 4
# One error among a million calls stays visible.
MIN_HEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class Block:
    kind: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class UsageDay:
    day: date
    good: int
    client_errors: int
    server_errors: int

    @property
    def calls(self) -> int:
        return self.good + self.client_errors + self.server_errors


@dataclass(frozen=True, slots=True)
class UsageColumn:
    day: UsageDay
    x: float
    width: float
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class Usage:
    days: list[UsageDay]
    columns: list[UsageColumn]
    top: int

    @property
    def calls(self) -> int:
        return sum(day.calls for day in self.days)

    @property
    def client_errors(self) -> int:
        return sum(day.client_errors for day in self.days)

    @property
    def server_errors(self) -> int:
        return sum(day.server_errors for day in self.days)


def chart(rows: Iterable[DailyUsage], *, until: date) -> Usage:
    counted = {row.day: row for row in rows}
    dates = [until - timedelta(days=back) for back in reversed(range(DAYS))]
    days = [_make_day(each, counted.get(each)) for each in dates]
    top = round_up(max(day.calls for day in days))
    step = WIDTH / DAYS
    columns = [
        UsageColumn(day, round(index * step + GAP / 2, 2), step - GAP, list(_stack_blocks(day, top)))
        for index, day in enumerate(days)
    ]
    return Usage(days, columns, top)


def round_up(calls: int) -> int:
    """The top of the scale: 1, 2 or 5 times a power of ten."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if factor * size >= calls:
                return factor * size
        size *= 10


def _make_day(day: date, row: DailyUsage | None) -> UsageDay:
    if row is None:
        return UsageDay(day, 0, 0, 0)
    successes = max(0, row.calls - row.client_errors - row.server_errors)
    return UsageDay(day, successes, row.client_errors, row.server_errors)


def _stack_blocks(day: UsageDay, top: int) -> Iterator[Block]:
    """The blocks of a bar from the bottom up: successes, client errors, server errors."""
    counts = {"good": day.good, "client-errors": day.client_errors, "server-errors": day.server_errors}
    heights = {kind: max(MIN_HEIGHT, HEIGHT * count / top) for kind, count in counts.items() if count}
    if heights:
        # The largest block gives up what was added to small ones.
        tallest = max(heights, key=lambda kind: heights[kind])
        heights[tallest] -= max(0, sum(heights.values()) - HEIGHT)
    ground = float(HEIGHT)
    for kind, height in heights.items():
        ground -= height
        yield Block(kind, round(ground, 2), round(height, 2))
