"""The charts of orders and calls by store on the console's start page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.utils import timezone

from stores.orders.selectors.board import DAYS, DailyCount

WIDTH, HEIGHT = 600, 140
# Stores with their own colour; all others share one.
MAX_STORES = 4
OTHERS = "Other stores"
WEEK = 7
# On a phone, console.css shows half of these.
LABELLED_EVERY = 2


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar, in units of the chart."""

    look: int
    left: float
    width: float
    top: float
    height: float


def orders_chart(rows: Sequence[DailyCount]) -> dict[str, Any]:
    # In a store's time zone tomorrow may have begun; its orders count for the chart's last day.
    today = timezone.localdate()
    bars = [(min(row.day, today), row.store, row.placed) for row in rows if row.placed or row.shipped]
    chart = _store_bars(bars, today)
    shipped = Counter[date]()
    for row in rows:
        shipped[min(row.day, today)] += row.shipped
    days = [one["day"] for one in chart["days"]]
    for one in chart["days"]:
        one["shipped"] = shipped[one["day"]]
    return {
        **chart,
        "shipped": sum(shipped[day] for day in days[-WEEK:]),
        "shipped_before": sum(shipped[day] for day in days[:-WEEK]),
    }


def calls_chart(rows: Sequence[DailyCount]) -> dict[str, Any]:
    return _store_bars(
        [(row.day, row.store, row.calls) for row in rows if row.calls], datetime.now(UTC).date()
    )


def _store_bars(rows: Sequence[tuple[date, str, int]], today: date) -> dict[str, Any]:
    """Counts of days by store: a bar for each day, of parts for each store."""
    days = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    of_day, by_store, totals = Counter[date](), Counter[tuple[date, str]](), Counter[str]()
    for day, name, new in rows:
        of_day[day] += new
        by_store[day, name] += new
        if day in days:
            totals[name] += new
    names = [name for name, _ in totals.most_common(MAX_STORES)]
    if len(totals) > MAX_STORES:
        names.append(OTHERS)
    most = max((of_day[day] for day in days), default=0)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "most": most,
        "names": list(enumerate(names)),
        "placed": sum(of_day[day] for day in days),
        "days": [
            {
                "day": day,
                "placed": of_day[day],
                "parts": _parts(number, day, names, by_store, most),
                "is_labelled": (DAYS - 1 - number) % LABELLED_EVERY == 0,
                "is_today": day == today,
            }
            for number, day in enumerate(days)
        ],
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
