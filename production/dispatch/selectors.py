"""The stages of the production board, with counts up to a limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from production.jobs.models import IN_WORK, OPEN, RANK, UNREAD, Job, JobState, ProviderReport, ReportOutcome
from production.jobs.selectors import OrderPlace, order_places
from production.providers.models import Provider
from stores.catalog.models import Store
from stores.orders.business_days import add_business_days

# Counts stop here.
MAX_COUNTED = 1000
# For these stages only whether there are more matters.
UNCOUNTED = frozenset({"shipped", "cancelled", "all"})
# What has ended, the newest first; all others by the day they must ship.
NEWEST_FIRST, BY_DUE = ("-id",), ("due", "id")
SHOWN = 25


@dataclass(frozen=True, slots=True)
class Stage:
    key: str
    name: str | Promise
    is_alarm: bool = False


STAGES: Sequence[Stage] = (
    Stage("work", gettext_lazy("In work")),
    Stage("queued", gettext_lazy("Queued")),
    Stage("held", gettext_lazy("Held")),
    Stage("sent", gettext_lazy("Sent")),
    Stage("production", gettext_lazy("In production")),
    Stage("late", gettext_lazy("Late"), is_alarm=True),
    Stage("failed", gettext_lazy("Failed"), is_alarm=True),
    Stage("shipped", gettext_lazy("Shipped")),
    Stage("cancelled", gettext_lazy("Cancelled")),
    Stage("all", gettext_lazy("All")),
)


def board_ordering(stage: str) -> Sequence[str]:
    return NEWEST_FIRST if stage in UNCOUNTED else BY_DUE


def stage_filter(stage: str) -> Q:
    conditions: Mapping[str, Q] = {
        "work": Q(state__in=IN_WORK),
        "queued": Q(state=JobState.QUEUED, held=""),
        "held": Q(state=JobState.QUEUED) & ~Q(held=""),
        "sent": Q(state__in=(JobState.SENT, JobState.ACKNOWLEDGED)),
        "production": Q(state=JobState.IN_PRODUCTION),
        "late": Q(state__in=OPEN, due__lt=timezone.localdate()),
        "failed": Q(state=JobState.FAILED),
        "shipped": Q(state=JobState.SHIPPED),
        "cancelled": Q(state=JobState.CANCELLED),
    }
    return conditions.get(stage, Q())


def count_stages(jobs: QuerySet[Job], **further: QuerySet[Any]) -> dict[str, int]:
    """Counts the visible jobs, and those in `further` by its names, each up to MAX_COUNTED + 1.

    In one statement that costs the same however many there are.
    """
    querysets = {stage.key: jobs.filter(stage_filter(stage.key)) for stage in STAGES}
    querysets = {key: rows for key, rows in querysets.items() if key not in UNCOUNTED} | further
    parts: list[str] = []
    values: list[Any] = []
    for records in querysets.values():
        bounded = records.order_by().values("pk")[: MAX_COUNTED + 1]
        try:
            sql, parameters = bounded.query.sql_with_params()
        except EmptyResultSet:
            parts.append("SELECT 0")
            continue
        parts.append(f"SELECT count(*) FROM ({sql}) bounded")  # noqa: S608 - of the query set
        values += parameters
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f"({part})" for part in parts), values)
        return dict(zip(querysets, cursor.fetchone(), strict=True))


def of_provider_and_store(jobs: QuerySet[Job], *, provider: str = "", store: str = "") -> QuerySet[Job]:
    """Filters by codes, in subqueries: a join would keep PostgreSQL from using its indexes."""
    if provider:
        jobs = jobs.filter(provider=Provider.objects.filter(code=provider).values("pk")[:1])
    if store:
        jobs = jobs.filter(store=Store.objects.filter(external_id=store).values("pk")[:1])
    return jobs


def open_reports() -> QuerySet[ProviderReport]:
    """Unreviewed reports that contradict a job or name an unknown one."""
    outcomes = (ReportOutcome.CONTRADICTION, ReportOutcome.UNKNOWN_JOB)
    return ProviderReport.objects.filter(outcome__in=outcomes, is_seen=False)


def stuck_jobs(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Jobs whose provider has not responded for some time."""
    return jobs.filter(state=JobState.QUEUED, failing_since__isnull=False, held="")


class DayTotal(NamedTuple):
    """The total of the jobs that must ship on a day."""

    jobs: int
    pieces: int


@dataclass(frozen=True, slots=True)
class BoardDay:
    """The first jobs of a column, each with the total of its day, and how many jobs and pieces there are in all.

    At most MAX_COUNTED + 1 jobs are counted.
    """

    name: str
    key: str
    count: int
    pieces: int
    jobs: Sequence[tuple[Job, OrderPlace, DayTotal]]

    @property
    def has_more(self) -> bool:
        return self.count > MAX_COUNTED

    @property
    def unshown(self) -> int:
        return min(self.count, MAX_COUNTED) - len(self.jobs)


def jobs_by_day(jobs: QuerySet[Job]) -> list[BoardDay]:
    """The days of the visible jobs, the earliest first."""
    days = []
    for key, name, condition in _list_columns(timezone.localdate()):
        day_jobs = jobs.filter(condition, state__in=OPEN)
        with_related = day_jobs.select_related("store", "provider", "item__product", "order", "gang_sheet")
        in_order = with_related.order_by("due", "id").defer(*UNREAD)
        first_jobs = list(in_order[:SHOWN])
        pieces = _list_pieces(day_jobs)
        places = order_places(first_jobs)
        job_cards = [(job, places[job.pk], _count_total(pieces, job.due)) for job in first_jobs]
        days.append(BoardDay(name, key, len(pieces), sum(number for _, number in pieces), job_cards))
    return days


def _list_pieces(jobs: QuerySet[Job]) -> list[tuple[date, int]]:
    """The day and the pieces of each job, the earliest first."""
    job_pieces = Coalesce("pieces", "item__quantity")
    return list(jobs.order_by("due", "id").values_list("due", job_pieces)[: MAX_COUNTED + 1])


def _count_total(pieces: Sequence[tuple[date, int]], day: date) -> DayTotal:
    of_day = [number for due, number in pieces if due == day]
    return DayTotal(len(of_day), sum(of_day))


def _list_columns(today: date) -> list[tuple[str, str, Q]]:
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


@dataclass(frozen=True, slots=True)
class JobStep:
    name: str
    state: str
    at: datetime | None
    is_done: bool
    is_current: bool


def steps_of(job: Job) -> Sequence[JobStep]:
    """A job that failed or was cancelled ends where that happened."""
    times: dict[str, datetime] = {}
    for state, timestamp in job.history.order_by("id").values_list("state", "timestamp"):
        # A restarted job begins at the first step.
        times = {} if state == JobState.QUEUED and state in times and len(times) > 1 else times
        times.setdefault(state, timestamp)
    has_ended = job.state in (JobState.FAILED, JobState.CANCELLED)
    reached_rank = (
        max((RANK[state] for state in times if state in RANK), default=0) if has_ended else RANK[job.state]
    )
    states = [JobState(state) for state in RANK if not has_ended or RANK[state] <= reached_rank]
    steps = [
        JobStep(
            str(state.label),
            state,
            times.get(state),
            RANK[state] <= reached_rank,
            not has_ended and RANK[state] == reached_rank,
        )
        for state in states
    ]
    if has_ended:
        steps.append(
            JobStep(job.get_state_display(), job.state, times.get(job.state), is_done=True, is_current=True)
        )
    return steps
