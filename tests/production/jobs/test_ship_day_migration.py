"""The data migration that gives open jobs the day they must ship, and its way back."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from production.jobs.models import Job, JobState
from stores.orders.business_days import ship_day
from tests.factories.orders import order_body
from tests.factories.production import accept, make_provider, make_rule, work_off_jobs
from tests.support.orders.shop import open_shop

pytestmark = pytest.mark.django_db
NAME = "0007_jobs_due_when_shipped"


@pytest.fixture
def jobs(world, settings, tmp_path) -> list[Job]:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    make_rule(make_provider(tmp_path))
    shop = open_shop(world)
    for _ in range(2):
        accept(shop.place(body=order_body()).json()["OrderID"])
        work_off_jobs()
    return list(Job.objects.select_related("order", "item").order_by("pk"))


def test_open_jobs_get_the_day_they_must_ship_and_shipped_ones_keep_theirs(jobs):
    apps = MigrationLoader(connection).project_state(("production", NAME)).apps
    migration = import_module(f"production.migrations.{NAME}")
    is_open, shipped = jobs
    before = is_open.order.latest_delivery + timedelta(1)
    Job.objects.update(due=before)
    Job.objects.filter(pk=shipped.pk).update(state=JobState.SHIPPED)

    migration.set_ship_days(apps, None)
    due = dict(Job.objects.values_list("pk", "due"))
    assert due == {is_open.pk: ship_day(is_open.order, is_mailing=False), shipped.pk: before}
    assert due[is_open.pk] < is_open.order.latest_delivery

    migration.set_delivery_days(apps, None)
    due = dict(Job.objects.values_list("pk", "due"))
    assert due == {is_open.pk: is_open.order.latest_delivery, shipped.pk: before}
