"""A job that was locked is the job as it is now."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from production.jobs.models import Job
from production.jobs.services.recording import lock_job
from production.providers.models import Provider
from tests.factories.orders import order_body
from tests.factories.production import accept, make_press, only_job
from tests.support.orders.shop import open_shop
from tests.support.patience import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def _locked_provider(job_pk: int) -> Provider | None:
    try:
        with transaction.atomic():
            return lock_job(job_pk).provider
    finally:
        connection.close()


def _others_wait() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


@pytest.mark.slow
def test_locked_job_has_the_provider_it_got_while_the_lock_was_waited_for(world, settings, tmp_path):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    provider = make_press(tmp_path)
    accept(open_shop(world).place(body=order_body()).json()["OrderID"])
    job = only_job()

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            lock_job(job.pk)
            locked = threads.submit(_locked_provider, job.pk)
            wait_for(_others_wait)
            Job.objects.filter(pk=job.pk).update(provider=provider)
        assert locked.result() == provider
