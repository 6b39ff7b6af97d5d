"""The chart of API calls on the console's start page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from fulfillment.core.admin.charts import axis_ticks, data_link

DAYS = 30
CHART_WIDTH, CHART_HEIGHT = 600, 140
# On a phone, console.css shows half of these.
LABELLED_EVERY = 6


@dataclass(frozen=True, slots=True)
class Day:
    """The bar of a day: successful, refused and failed calls from the bottom up, in units of the chart."""

    day: date
    calls: int
    client_errors: int
    server_errors: int
    left: float
    width: float
    fine_top: float
    fine_height: float
    client_top: float
    client_height: float
    server_top: float
    server_height: float
    is_today: bool
    is_labelled: bool


def calls_chart(totals: Sequence[tuple[date, int, int, int]]) -> dict[str, Any]:
    """The bars of the last days over all applications; `most` is the height of the chart in calls."""
    today = datetime.now(UTC).date()
    sums: dict[date, Sequence[int]] = {
        today - timedelta(days=ago): (0, 0, 0) for ago in range(DAYS - 1, -1, -1)
    }
    sums |= {day: counts for day, *counts in totals if day in sums}
    most = max((counts[0] for counts in sums.values()), default=0)
    ticks = axis_ticks(most)
    step = CHART_WIDTH / DAYS
    days = [
        _bar(day, counts, ticks[0], left=(number + 0.11) * step, width=step * 0.78, ago=DAYS - 1 - number)
        for number, (day, counts) in enumerate(sums.items())
    ]
    calls, client, server = (sum(counts[place] for counts in sums.values()) for place in range(3))
    return {
        "days": days,
        "most": most,
        "ticks": ticks,
        "data": data_link(
            ["Day", "Calls", "Refused", "Failed"], [[day, *counts] for day, counts in sums.items()]
        ),
        "calls": calls,
        "client_errors": client,
        "server_errors": server,
        "width": CHART_WIDTH,
        "height": CHART_HEIGHT,
    }


def _bar(day: date, counts: Sequence[int], top: int, *, left: float, width: float, ago: int) -> Day:
    calls, client, server = counts
    scale = CHART_HEIGHT / top
    heights = [round(count * scale, 2) for count in (max(calls - client - server, 0), client, server)]
    fine_top = CHART_HEIGHT - heights[0]
    client_top = fine_top - heights[1]
    return Day(
        day,
        calls,
        client,
        server,
        round(left, 2),
        round(width, 2),
        round(fine_top, 2),
        heights[0],
        round(client_top, 2),
        heights[1],
        round(client_top - heights[2], 2),
        heights[2],
        is_today=ago == 0,
        is_labelled=ago % LABELLED_EVERY == 0,
    )
