"""One person's batches leave a worker's threads to mails and to other people's batches."""

from threading import BoundedSemaphore

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.callers import Caller
from applications.registration.services.applications import create_application
from fulfillment.core.errors import ServiceBusy, Unavailable
from stores import tasks
from stores.batches.models import BatchStatus
from stores.batches.services.rows import CHECK_TASK
from stores.catalog.models import Store
from stores.orders.selectors.access import StoreAccess
from tests.support.batches.batches import access_to, fresh, make_batch, person


@pytest.fixture
def batch(world):
    return make_batch(access_to(world), [person(1), person(2)])


@pytest.fixture
def one_thread(monkeypatch):
    free = BoundedSemaphore(1)
    monkeypatch.setattr(tasks, "_free", free)
    return free


def test_applications_of_a_person_share_the_locks_of_batches(world, batch):
    owner, store = Caller.on_pages(world.user), Store.objects.get(external_id="associated")
    for number in range(3):
        application = create_application(caller=owner, values={"Name": f"Application {number}"})
        access = StoreAccess(store, Caller.of_application(application), sees_all_orders=False)
        for _ in range(8):
            make_batch(access, [person(1)], product_id=batch.product.external_id)

    locks = set(ProcrastinateJob.objects.filter(task_name=CHECK_TASK).values_list("lock", flat=True))

    assert len(locks) <= 5


@pytest.mark.parametrize("task", ["check_rows", "order_rows"])
def test_batch_waits_for_its_next_try_while_others_have_all_threads(batch, one_thread, task):
    one_thread.acquire()

    with pytest.raises(ServiceBusy):
        getattr(tasks, task)(batch_id=str(batch.pk))

    assert Unavailable in (tasks.AGAIN.retry_exceptions or ())


def test_batch_that_had_its_time_leaves_its_thread_to_one_that_waits(batch, one_thread, monkeypatch):
    monkeypatch.setattr(tasks, "SECONDS", 0.0)

    with pytest.raises(ServiceBusy):
        tasks.check_rows(batch_id=str(batch.pk))

    assert one_thread.acquire(blocking=False)


def test_batch_goes_on_where_none_waits(batch, monkeypatch):
    monkeypatch.setattr(tasks, "SECONDS", 0.0)

    tasks.check_rows(batch_id=str(batch.pk))

    assert fresh(batch).status == BatchStatus.CHECKED
