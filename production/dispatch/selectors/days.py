"""Open jobs by the day they must ship: late, today, the next business day, later."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from production.dispatch.selectors.board import MAX_COUNTED
from production.jobs.models import OPEN, Job
from production.jobs.selectors import OrderPlace, places_of
from stores.orders.business_days import add_business_days

SHOWN = 25
HEAVY = (
    "store__rendering",
    "store__verbose_rendering",
    "order__rendering",
    "item__template_data",
    "item__product__template",
    "item__product__rendering",
    "item__product__verbose_rendering",
)


class Total(NamedTuple):
    """Of the jobs that must ship on a day."""

    jobs: int
    pieces: int


@dataclass(frozen=True, slots=True)
class Day:
    """The first jobs of a column, each with the total of its day, and how many jobs and pieces there are in all.

    At most MAX_COUNTED + 1 jobs are counted.
    """

    name: str
    key: str
    count: int
    pieces: int
    jobs: Sequence[tuple[Job, OrderPlace, Total]]

    @property
    def has_more(self) -> bool:
        return self.count > MAX_COUNTED

    @property
    def unshown(self) -> int:
        return min(self.count, MAX_COUNTED) - len(self.jobs)


def jobs_by_day(jobs: QuerySet[Job]) -> list[Day]:
    """The days of the visible jobs, the earliest first."""
    days = []
    for key, name, condition in _columns(timezone.localdate()):
        of_day = jobs.filter(condition, state__in=OPEN)
        shown = of_day.select_related("store", "provider", "item__product", "order", "gang_sheet")
        light = shown.order_by("due", "id").defer(*HEAVY)
        found = list(light[:SHOWN])
        pieces = _pieces(of_day)
        places = places_of(found)
        shown_jobs = [(job, places[job.pk], _total(pieces, job.due)) for job in found]
        days.append(Day(name, key, len(pieces), sum(number for _, number in pieces), shown_jobs))
    return days


def _pieces(jobs: QuerySet[Job]) -> list[tuple[date, int]]:
    """The day and the pieces of each job, the earliest first."""
    printed = Coalesce("pieces", "item__quantity")
    return list(jobs.order_by("due", "id").values_list("due", printed)[: MAX_COUNTED + 1])


def _total(pieces: Sequence[tuple[date, int]], day: date) -> Total:
    of_day = [number for due, number in pieces if due == day]
    return Total(len(of_day), sum(of_day))


def _columns(today: date) -> list[tuple[str, str, Q]]:
    """The key, name and jobs of each column. On a Friday the next one is Monday, by its name."""
    following = add_business_days(today, 1)
    is_tomorrow = following == today + timedelta(days=1)
    return [
        ("late", _("Late"), Q(due__lt=today)),
        ("today", _("Today"), Q(due=today)),
        (
            "next",
            _("Tomorrow") if is_tomorrow else date_format(following, "l"),
            Q(due__gt=today, due__lte=following),
        ),
        ("later", _("Later"), Q(due__gt=following)),
    ]


def open_by_provider(jobs: QuerySet[Job]) -> list[dict[str, Any]]:
    """The providers that have open jobs, for links."""
    codes = jobs.filter(state__in=OPEN, provider__isnull=False).order_by("provider__name")
    return [dict(row) for row in codes.values("provider__code", "provider__name").distinct()]
