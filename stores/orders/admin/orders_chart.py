"""The chart of placed and shipped orders by store on the console's start page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from stores.orders.selectors.days import DAYS

WIDTH, HEIGHT = 600, 140
# Stores with their own colour; all others share one.
MAX_STORES = 4
OTHERS = "Other stores"
WEEK = 7


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar, in units of the chart."""

    look: int
    left: float
    width: float
    top: float
    height: float


def orders_chart(rows: Sequence[tuple[date, int, str, int, int]]) -> dict[str, Any]:
    today = timezone.localdate()
    days = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    placed, shipped, by_store = Counter[date](), Counter[date](), Counter[tuple[date, str]]()
    totals = Counter[str]()
    for day, _, name, new, sent in rows:
        # A store where the next day has begun counts in the last day of the chart.
        shown = min(day, today)
        placed[shown] += new
        shipped[shown] += sent
        by_store[shown, name] += new
        if shown in days:
            totals[name] += new
    names = [name for name, _ in totals.most_common(MAX_STORES)]
    if len(totals) > MAX_STORES:
        names.append(OTHERS)
    most = max((placed[day] for day in days), default=0)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "most": most,
        "names": list(enumerate(names)),
        "days": [
            {
                "day": day,
                "placed": placed[day],
                "shipped": shipped[day],
                "parts": _parts(number, day, names, by_store, most),
                "is_labelled": (DAYS - 1 - number) % WEEK == 0,
                "is_today": day == today,
            }
            for number, day in enumerate(days)
        ],
        "placed": sum(placed[day] for day in days),
        "shipped": sum(shipped[day] for day in days[-WEEK:]),
        "shipped_before": sum(shipped[day] for day in days[:-WEEK]),
    }


def _parts(
    number: int, day: date, names: Sequence[str], by_store: Counter[tuple[date, str]], most: int
) -> list[Part]:
    parts, top = [], float(HEIGHT)
    step, scale = WIDTH / DAYS, HEIGHT / most if most else 0.0
    for look, name in enumerate(names):
        count = by_store[day, name]
        if name == OTHERS:
            count = sum(new for (one, store), new in by_store.items() if one == day and store not in names)
        height = round(count * scale, 2)
        top = round(top - height, 2)
        if height:
            parts.append(Part(look, round((number + 0.11) * step, 2), round(step * 0.78, 2), top, height))
    return parts
