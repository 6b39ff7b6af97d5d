"""The stages of the production board, with counts up to a limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from production.jobs.models import IN_WORK, OPEN, Job, JobState, ProviderReport, ReportOutcome
from production.providers.models import Provider
from stores.catalog.models import Store

# Counts stop here.
MAX_COUNTED = 1000


@dataclass(frozen=True, slots=True)
class Stage:
    key: str
    name: str | Promise
    is_alarm: bool = False


STAGES: Sequence[Stage] = (
    Stage("work", _("In work")),
    Stage("queued", _("Queued")),
    Stage("held", _("Held")),
    Stage("sent", _("Sent")),
    Stage("production", _("In production")),
    Stage("late", _("Late"), is_alarm=True),
    Stage("failed", _("Failed"), is_alarm=True),
    Stage("shipped", _("Shipped")),
    Stage("cancelled", _("Cancelled")),
    Stage("all", _("All")),
)
# For these stages only whether there are more matters.
UNCOUNTED = frozenset({"shipped", "cancelled", "all"})
# What has ended, the newest first; all others by the day they must ship.
NEWEST_FIRST, BY_DUE = ("-id",), ("due", "id")


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


def count_stages(jobs: QuerySet[Job], **more: QuerySet[Any]) -> dict[str, int]:
    """Counts the visible jobs, and those in `more` by its names, each up to MAX_COUNTED + 1.

    In one statement that costs the same however many there are.
    """
    counted = {stage.key: jobs.filter(stage_filter(stage.key)) for stage in STAGES}
    counted = {key: found for key, found in counted.items() if key not in UNCOUNTED} | more
    parts: list[str] = []
    values: list[Any] = []
    for records in counted.values():
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
        return dict(zip(counted, cursor.fetchone(), strict=True))


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
