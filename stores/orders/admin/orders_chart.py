"""The charts of orders and calls by store on the console's start page."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fulfillment.core.admin.charts import axis_ticks, comparison_text, data_link, in_percent
from stores.orders.selectors.board import DAYS, DailyCount

WIDTH, HEIGHT = 600, 140
# Stores with their own color; all others share one.
MAX_STORES = 4
OTHERS = gettext_lazy("Other stores")
# On a phone, console.css shows half of these.
LABELLED_EVERY = 2


@dataclass(frozen=True, slots=True)
class BarPart:
    """A piece of a bar, in units of the chart."""

    look: int
    left: float
    width: float
    top: float
    height: float


def orders_chart(rows: Sequence[DailyCount]) -> dict[str, Any]:
    # In a store's time zone tomorrow may have begun; its orders count for the chart's last day.
    today = timezone.localdate()
    first = today - timedelta(days=DAYS - 1)
    bars = [(min(row.day, today), row.store, row.placed) for row in rows if row.placed or row.shipped]
    chart, data = _store_bars(bars, today)
    shipped, worth = Counter[date](), defaultdict[tuple[bool, str], Decimal](Decimal)
    by_day = defaultdict[tuple[date, str], Decimal](Decimal)
    for row in rows:
        day = min(row.day, today)
        shipped[day] += row.shipped
        worth[day >= first, row.currency] += row.amount
        by_day[day, row.currency] += row.amount
    currencies = sorted({currency for (_now, currency), amount in worth.items() if amount})
    for chart_day in chart["days"]:
        chart_day["shipped"] = shipped[chart_day["day"]]
        chart_day["amounts"] = [by_day[chart_day["day"], currency] for currency in currencies]
    shipped_now = sum(chart_day["shipped"] for chart_day in chart["days"])
    money = [(currency, worth[True, currency], worth[False, currency]) for currency in currencies]
    columns, lines = data
    totals = ["Placed", "Shipped", *(f"Amount {currency}" for currency in currencies)]
    return {
        **chart,
        "shipped": shipped_now,
        "shipped_change": in_percent(shipped_now, _count_before(shipped, first)),
        "money": [(currency, now, in_percent(now, before)) for currency, now, before in money],
        "currencies": currencies,
        "data": data_link(
            [*columns, *totals],
            [
                [*line, chart_day["placed"], chart_day["shipped"], *chart_day["amounts"]]
                for line, chart_day in zip(lines, chart["days"], strict=True)
            ],
        ),
    }


def calls_chart(rows: Sequence[DailyCount]) -> dict[str, Any]:
    calls = [(row.day, row.store, row.calls) for row in rows if row.calls]
    chart, data = _store_bars(calls, datetime.now(UTC).date())
    return {**chart, "data": data_link(*data)}


Data = tuple[list[str], list[list[Any]]]


def _count_orders(
    rows: Sequence[tuple[date, str, int]], days: Sequence[date]
) -> tuple[Counter[date], Counter[tuple[date, str]], list[str]]:
    """Counts by day, by day and store, and the names of the stores that are shown: the rest are the others."""
    of_day, by_store, totals = Counter[date](), Counter[tuple[date, str]](), Counter[str]()
    for day, name, new in rows:
        of_day[day] += new
        by_store[day, name] += new
        if day in days:
            totals[name] += new
    names = [name for name, _count in totals.most_common(MAX_STORES)]
    for (day, name), new in list(by_store.items()):
        if name not in names:
            by_store[day, str(OTHERS)] += new
    if len(totals) > MAX_STORES:
        names.append(str(OTHERS))
    return of_day, by_store, names


def _store_bars(rows: Sequence[tuple[date, str, int]], today: date) -> tuple[dict[str, Any], Data]:
    """Counts of days by store: a bar for each day, of parts for each store; and the same as columns and rows."""
    days = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    of_day, by_store, names = _count_orders(rows, days)
    ticks = axis_ticks(max((of_day[day] for day in days), default=0))
    placed = sum(of_day[day] for day in days)
    chart = {
        "width": WIDTH,
        "height": HEIGHT,
        "ticks": ticks,
        "most": max((of_day[day] for day in days), default=0),
        "names": list(enumerate(names)),
        "placed": placed,
        "change": comparison_text(
            placed, _count_before(of_day, days[0]), _("the %(days)s days") % {"days": DAYS}
        ),
        "days": [
            {
                "day": day,
                "placed": of_day[day],
                "parts": _make_parts(number, day, names, by_store, ticks[0]),
                "is_labelled": (DAYS - 1 - number) % LABELLED_EVERY == 0,
                "is_today": day == today,
            }
            for number, day in enumerate(days)
        ],
    }
    return chart, (["Day", *names], [[day, *(by_store[day, name] for name in names)] for day in days])


def _count_before(of_day: Counter[date], first: date) -> int:
    return sum(count for day, count in of_day.items() if first - timedelta(days=DAYS) <= day < first)


def _make_parts(
    number: int, day: date, names: Sequence[str], by_store: Counter[tuple[date, str]], top_value: int
) -> list[BarPart]:
    parts, top = [], float(HEIGHT)
    step, scale = WIDTH / DAYS, HEIGHT / top_value
    for look, name in enumerate(names):
        height = round(by_store[day, name] * scale, 2)
        top = round(top - height, 2)
        if height:
            parts.append(BarPart(look, round((number + 0.11) * step, 2), round(step * 0.78, 2), top, height))
    return parts
