"""Many changes of one batch at once, each of all its rows, leave the threads of the process to others."""

from collections.abc import Callable
from threading import Thread

import pytest
from django.db import connection, transaction

from fulfillment.core.errors import TooManyAtOnce
from stores.batches.services.batches import cancel_batch, change_batch, start_check
from stores.batches.services.checking import correct_row
from stores.batches.services.ordering import order_batch
from stores.batches.services.rows import lock_batch, replace_rows
from stores.orders.models import ActorKind
from stores.orders.services.transitions import Actor
from tests.support.at_once import at_once
from tests.support.batches import access_to, checked, fresh, make_batch, person, source_of
from tests.support.patience import wait_for


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
        return cursor.fetchone() is not None


def refused(change: Callable[[], object]) -> Callable[[], str]:
    def tried() -> str:
        try:
            change()
        except TooManyAtOnce as refusal:
            return refusal.code
        return "not refused"

    return tried


@pytest.mark.django_db(transaction=True)
def test_changes_of_a_locked_batch_are_refused_while_one_waits_for_it(world, settings):
    settings.CONCURRENCY_WAIT_SECONDS = 0.1
    batch = checked(make_batch(access_to(world), [person(1), person(2)]))
    rows, [key, *_] = source_of([person(3)]), batch.rows.values_list("key", flat=True)
    changes = [
        lambda: change_batch(batch=fresh(batch), values={"mapping": {}}),
        lambda: start_check(batch=fresh(batch)),
        lambda: replace_rows(batch=fresh(batch), source=rows),
        lambda: correct_row(batch=fresh(batch), row_key=key, cells={"Name": "Ada"}),
        lambda: order_batch(batch=fresh(batch), actor=Actor(ActorKind.APPLICATION)),
        lambda: cancel_batch(batch=fresh(batch)),
    ]
    waiting = Thread(target=at_once, args=(changes[0],))
    with transaction.atomic():
        lock_batch(batch)
        waiting.start()
        wait_for(somebody_waits)
        answers = at_once(*map(refused, changes))
    waiting.join()

    assert answers == ["too_many_at_once"] * len(changes)


@pytest.mark.django_db
def test_check_of_rows_that_wait_for_one_writes_none_of_them(world):
    batch = make_batch(access_to(world), [person(1), person(2)])
    places = f"SELECT ctid::text FROM stores_batchrow WHERE batch_id = '{batch.pk}' ORDER BY number"
    with connection.cursor() as cursor:
        cursor.execute(places)
        before = cursor.fetchall()
        start_check(batch=batch)
        cursor.execute(places)

        assert cursor.fetchall() == before
