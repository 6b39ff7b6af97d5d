"""The production board beside very many jobs: bounded counts, few statements, and each stage along an index."""

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from production.dispatch import selectors as board
from production.dispatch.selectors import STAGES, board_ordering, count_stages, stage_filter
from production.jobs.models import Job, JobState
from tests.factories.orders import order_body
from tests.factories.production import accept, make_provider, make_rule
from tests.support.orders.shop import Shop
from tests.support.production.jobs import large_reads

pytestmark = pytest.mark.django_db
BOARD = "/admin/production/job/"


@pytest.fixture
def jobs(world, tmp_path) -> list[Job]:
    make_rule(make_provider(tmp_path))
    shop = Shop(world)
    for _ in range(3):
        accept(shop.place(body=order_body()).json()["OrderID"])
    return list(Job.objects.order_by("due", "id"))


@pytest.mark.parametrize("filters", [{}, {"store": 1}, {"provider": 1}])
def test_every_stage_is_read_along_an_index_in_its_order(jobs, filters):
    """Nothing is sorted or read in vain: what a page costs does not grow with the jobs."""
    with connection.cursor() as cursor:
        for method in ("seqscan", "bitmapscan", "sort"):
            cursor.execute(f"SET LOCAL enable_{method} = off")
    for stage in STAGES:
        if filters and stage.key == "late":
            continue  # few of one store or provider
        jobs_of_stage = Job.objects.filter(stage_filter(stage.key), **filters)
        plan = jobs_of_stage.order_by(*board_ordering(stage.key)).values("pk")[:25].explain()
        assert "Index" in plan, plan
        assert "Sort" not in plan, f"{stage.key}: {plan}"
        assert "Seq Scan" not in plan, f"{stage.key}: {plan}"


@pytest.mark.parametrize("query", ["", "?stage=late", "?stage=queued&provider=press", "?store=associated"])
def test_board_takes_few_statements_however_many_jobs(world, client, jobs, query):
    client.force_login(world.operator)
    client.get(BOARD + query)
    with CaptureQueriesContext(connection) as found:
        assert client.get(BOARD + query).status_code == 200
    assert len(found) <= 9, [query["sql"][:200] for query in found]
    assert large_reads(found) == []


def test_longest_overdue_jobs_come_first(world, client, jobs):
    today = timezone.now().date()
    for late, job in enumerate(jobs, 1):
        Job.objects.filter(pk=job.pk).update(
            due=today - timedelta(days=late), state=JobState.SENT, next_try=None
        )
    client.force_login(world.operator)

    page = client.get(f"{BOARD}?stage=late").content.decode()

    places = [page.index(f"Choose job {job.number}") for job in reversed(jobs)]
    assert places == sorted(places)


@pytest.mark.parametrize("stage", ["", "work", "queued", "held", "sent", "production", "failed"])
def test_job_that_ships_first_is_listed_first(world, client, jobs, stage):
    changes = {
        "held": {"held": "Manual", "next_try": None},
        "sent": {"state": JobState.SENT},
        "production": {"state": JobState.IN_PRODUCTION},
        "failed": {"state": JobState.FAILED, "next_try": None},
    }
    for days_left, job in zip((5, 1, 3), jobs, strict=True):
        due = timezone.localdate() + timedelta(days=days_left)
        Job.objects.filter(pk=job.pk).update(due=due, **changes.get(stage, {}))
    client.force_login(world.operator)

    page = client.get(f"{BOARD}?stage={stage}" if stage else BOARD).content.decode()

    first, second, third = jobs
    places = [page.index(f"Choose job {job.number}") for job in (second, third, first)]
    assert places == sorted(places)


@pytest.mark.parametrize(("zone", "late"), [("Pacific/Kiritimati", 1), ("Pacific/Honolulu", 0)])
def test_list_and_columns_call_the_same_jobs_late(world, client, jobs, zone, late):
    """Kiritimati is always 24 hours ahead of Honolulu."""
    with timezone.override("Pacific/Honolulu"):
        today = timezone.localdate()
    Job.objects.update(due=today + timedelta(days=9))
    Job.objects.filter(pk=jobs[0].pk).update(due=today, state=JobState.SENT)
    world.operator.time_zone = zone
    world.operator.save(update_fields=["time_zone"])
    client.force_login(world.operator)

    listed = client.get(f"{BOARD}?stage=late").content.decode()
    columns = client.get(f"{BOARD}days/").content.decode()

    assert (f"Choose job {jobs[0].number}" in listed) == bool(late)
    assert ("1 day late" in listed) == bool(late)
    with timezone.override(zone):
        counts = {day.key: day.count for day in board.jobs_by_day(Job.objects.all())}
        assert count_stages(Job.objects.all())["late"] == counts["late"] == late
    assert jobs[0].number in columns


@pytest.mark.parametrize(
    ("today", "name", "following"),
    [
        (date(2026, 11, 25), "Tomorrow", date(2026, 11, 26)),
        (date(2026, 11, 27), "Monday", date(2026, 11, 30)),
        (date(2026, 11, 28), "Monday", date(2026, 11, 30)),
    ],
    ids=["Wednesday", "Friday", "Saturday"],
)
def test_next_column_is_the_next_business_day(jobs, monkeypatch, today, name, following):
    monkeypatch.setattr(board.timezone, "localdate", lambda: today)
    for job, due in zip(jobs, (today, following, following + timedelta(days=1)), strict=False):
        Job.objects.filter(pk=job.pk).update(due=due, state=JobState.SENT, next_try=None)
    chosen = Job.objects.filter(pk__in=[job.pk for job in jobs[:3]])

    columns = [(day.name, day.count) for day in board.jobs_by_day(chosen)]

    assert columns == [("Late", 0), ("Today", 1), (name, 1), ("Later", 1)]


def test_columns_are_named_in_the_language_of_the_reader(jobs, monkeypatch):
    monkeypatch.setattr(board.timezone, "localdate", lambda: date(2026, 11, 27))
    with translation.override("de"):
        assert [day.name for day in board.jobs_by_day(Job.objects.all())] == [
            "Verspätet",
            "Heute",
            "Montag",
            "Später",
        ]
