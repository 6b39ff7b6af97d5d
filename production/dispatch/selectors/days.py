"""Open jobs by the day they must ship: late, today, tomorrow, later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy

from production.dispatch.selectors.board import MAX_COUNTED
from production.jobs.models import OPEN, Job

SHOWN = 25


@dataclass(frozen=True, slots=True)
class Day:
    """The first jobs of a day, and how many there are in all, up to MAX_COUNTED + 1."""

    name: str
    key: str
    count: int
    jobs: Sequence[Job]

    @property
    def has_more(self) -> bool:
        return self.count > MAX_COUNTED

    @property
    def unshown(self) -> int:
        return min(self.count, MAX_COUNTED) - len(self.jobs)


NAMES: Mapping[str, Any] = {
    "late": gettext_lazy("Late"),
    "today": gettext_lazy("Today"),
    "tomorrow": gettext_lazy("Tomorrow"),
    "later": gettext_lazy("Later"),
}


def jobs_by_day(jobs: QuerySet[Job]) -> list[Day]:
    """Of the visible jobs; the earliest first."""
    days = []
    for key, condition in _conditions(timezone.localdate()).items():
        of_day = jobs.filter(condition, state__in=OPEN)
        shown = of_day.select_related("store", "provider", "item", "order", "gang_sheet").order_by(
            "due", "id"
        )
        light = shown.defer(
            "store__rendering", "store__verbose_rendering", "order__rendering", "item__template_data"
        )
        count = of_day.order_by().values("pk")[: MAX_COUNTED + 1].count()
        days.append(Day(NAMES[key], key, count, list(light[:SHOWN])))
    return days


def _conditions(today: date) -> dict[str, Q]:
    tomorrow = today + timedelta(days=1)
    return {
        "late": Q(due__lt=today),
        "today": Q(due=today),
        "tomorrow": Q(due=tomorrow),
        "later": Q(due__gt=tomorrow),
    }


def open_by_provider(jobs: QuerySet[Job]) -> list[dict[str, Any]]:
    """The providers that have open jobs, for links."""
    codes = jobs.filter(state__in=OPEN, provider__isnull=False).order_by("provider__name")
    return [dict(row) for row in codes.values("provider__code", "provider__name").distinct()]
