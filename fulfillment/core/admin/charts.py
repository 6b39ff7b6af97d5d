"""Helpers of the charts on the console's start page: axes, comparisons with the period before, and data links."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from django.db.models import Func, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from fulfillment.core.csv_rows import BOM, csv_pieces

SHOWN = 5


def axis_ticks(most: int) -> tuple[int, int, int]:
    """A round number not below `most`, its half and zero: the height of the chart and its lines."""
    step = 1
    while 8 * step < most:
        step *= 10
    top = next(part * step for part in (2, 4, 6, 8) if part * step >= most)
    return top, top // 2, 0


def comparison_text(now: int | Decimal, before: int | Decimal, period: str) -> str:
    """The change since the same number of days before, such as: 12% more than in the 14 days before."""
    if not before:
        return _("none in %(period)s before") % {"period": period} if now else ""
    percent = round((now - before) * 100 / before)
    if not percent:
        return _("as in %(period)s before") % {"period": period}
    change = (
        _("%(percent)s%% more than in %(period)s before")
        if percent > 0
        else _("%(percent)s%% less than in %(period)s before")
    )
    return change % {"percent": number_format(abs(percent), force_grouping=True), "period": period}


def in_percent(now: int | Decimal, before: int | Decimal) -> str:
    """The change as a short text, such as +12%; empty without a change."""
    percent = round((now - before) * 100 / before) if before else 0
    if not percent:
        return ""
    sign = "+" if percent > 0 else "\N{MINUS SIGN}"
    return _("%(change)s%%") % {"change": f"{sign}{number_format(abs(percent), force_grouping=True)}"}


def data_link(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """The chart's data as a CSV file in a link: exactly what is shown, without another address."""
    return f"data:text/csv;charset=utf-8,{quote(BOM + b''.join(csv_pieces(columns, rows)))}"


def count_and_oldest(request: HttpRequest, name: str, records: QuerySet[Any]) -> dict[str, Any]:
    """The total `count` and the first few as `oldest`, cached under `name` during the request."""
    results: dict[str, dict[str, Any]] = request.__dict__.setdefault("count_and_oldest", {})
    if name not in results:
        # Counted separately, without the joins of the few that are shown: there may be ten thousand records.
        count = Subquery(records.order_by().annotate(count=Func("pk", function="COUNT")).values("count"))
        oldest = list(records.annotate(count_of_all=count)[:SHOWN])
        results[name] = {"count": oldest[0].count_of_all if oldest else 0, "oldest": oldest}
    return results[name]
