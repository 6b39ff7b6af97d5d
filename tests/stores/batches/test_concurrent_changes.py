"""Changes of one batch, each of all its rows, leave the threads of the process and their events to others."""

from collections.abc import Callable
from threading import Thread

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from fulfillment.core.errors import Conflict, DomainError, TooManyAtOnce
from stores.batches.models import Batch
from stores.batches.selectors.batches import kept_mappings
from stores.batches.selectors.callers import caller_of
from stores.batches.services import batches, checking, rows
from stores.batches.services.approvals import approve_batch, deny_batch
from stores.batches.services.batches import cancel_batch, change_batch, start_check
from stores.batches.services.checking import correct_row
from stores.batches.services.ordering import ORDER_TASK, order_batch, refuse_outdated, write_orders
from stores.batches.services.personal_data import erase_unordered_recipients
from stores.batches.services.rows import begin_check, lock_batch, replace_rows
from stores.catalog.models import Product
from stores.concurrency_limits import BATCHES
from stores.orders.models import ActorKind
from stores.orders.services.changes import Actor, lock_orders
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import RECIPIENT
from tests.factories.webhooks import look_before
from tests.support.at_once import at_once
from tests.support.batches.batches import (
    access_to,
    approver,
    change_template,
    checked,
    fresh,
    make_batch,
    ordered,
    person,
    source_of,
)
from tests.support.patience import wait_for
from tests.support.servers.queued_jobs import work_off


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


def code_of(decision: Callable[[], object]) -> Callable[[], str]:
    def tried() -> str:
        with pytest.raises(DomainError) as refusal:
            decision()
        return refusal.value.code

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
        lambda: refuse_outdated(batch=fresh(batch)),
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


@pytest.mark.django_db(transaction=True)
def test_decisions_wait_for_those_of_the_same_person_alone(world, settings):
    settings.CONCURRENCY_WAIT_SECONDS = 0.1
    batch = checked(make_batch(access_to(world), [person(1)]))
    actor = Actor(ActorKind.OPERATOR, world.operator.pk)
    decisions = [
        code_of(lambda: approve_batch(batch=fresh(batch), actor=actor)),
        code_of(lambda: deny_batch(batch=fresh(batch), actor=actor, reason="No")),
    ]

    with BATCHES.slot(f"user:{world.operator.pk}"):
        assert at_once(*decisions) == ["too_many_at_once"] * 2
    with BATCHES.slot(caller_of(batch).key):
        assert "too_many_at_once" not in at_once(decisions[0])


@pytest.mark.django_db(transaction=True)
def test_kept_mappings_are_locked_after_the_rows_are_changed(world, monkeypatch):
    """The lock is on all mappings of a caller: changes of their other batches would wait for these rows."""
    batch, held = checked(make_batch(access_to(world), [person(1)])), []

    def queued(*args, **options):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND pid = pg_backend_pid()"
            )
            held.append(cursor.fetchone()[0])
        return begin_check(*args, **options)

    monkeypatch.setattr(batches, "begin_check", queued)
    change_batch(batch=batch, values={"mapping": {"Name": "Name"}}, mapping_name="People")

    assert held == [0]
    assert [mapping.name for mapping in kept_mappings(batch)] == ["People"]


@pytest.mark.django_db(transaction=True)
def test_order_of_a_row_that_waits_for_its_turn_locks_no_store(world):
    batch = checked(make_batch(access_to(world), [person(1)]))
    order_batch(batch=batch, actor=Actor(ActorKind.APPLICATION))
    writing = Thread(target=at_once, args=(lambda: write_orders(batch_id=batch.pk),))
    with transaction.atomic(), connection.cursor() as cursor:
        lock_orders(store_pks=[batch.store_id])
        writing.start()
        wait_for(somebody_waits)
        # As the foreign keys of an order do at its commit; it raises where another transaction has the row.
        cursor.execute("SELECT FROM stores_store WHERE id = %s FOR KEY SHARE NOWAIT", [batch.store_id])
    writing.join()

    assert fresh(batch).status == "Ordered"


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


@pytest.fixture
def looks(world, monkeypatch):
    """Whether another application's event was read during each change, at the end of its transaction."""
    found: list[bool] = []
    for module, step in ((rows, "queue_check"), (batches, "forget_jobs")):
        look_before(monkeypatch, module, step, world.other_application, found)
    return found


def order_of_a_template_that_changes(batch: Batch) -> None:
    order_batch(batch=fresh(batch), actor=Actor(ActorKind.APPLICATION))
    change_template(batch.product_id)
    work_off(ORDER_TASK)


def order_of_an_outdated_check(batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(prices_expire=timezone.now())
    with pytest.raises(Conflict):
        order_batch(batch=fresh(batch), actor=Actor(ActorKind.APPLICATION))


def check_of_a_template_that_changes(batch: Batch) -> None:
    start_check(batch=fresh(batch))
    Product.objects.filter(pk=batch.product_id).update(version=F("version") + 1)
    checking.check_batch(batch_id=batch.pk)


@pytest.mark.django_db(transaction=True)
def test_change_of_all_rows_holds_back_no_events_of_others(world, monkeypatch, looks):
    batch = make_batch(access_to(world), [person(1), person(2)])
    monkeypatch.setattr(checking, "_outcome_now", lambda *_: None)
    changes = [
        lambda: replace_rows(batch=fresh(batch), source=source_of([person(3), person(4)])),
        lambda: change_batch(batch=fresh(batch), values={"mapping": {"Name": "Name", "Email": "Mail"}}),
        lambda: start_check(batch=fresh(batch)),
        lambda: check_of_a_template_that_changes(batch),
        lambda: correct_row(batch=fresh(batch), row_key=batch.rows.earliest("pk").key, cells={"Name": "Ada"}),
        lambda: order_of_an_outdated_check(batch),
        lambda: order_of_a_template_that_changes(batch),
        lambda: cancel_batch(batch=fresh(batch)),
    ]
    for change in changes:
        checked(batch)
        looks.clear()
        change()
        assert looks
        assert all(looks)


@pytest.mark.django_db(transaction=True)
def test_end_of_a_batch_holds_back_no_events_of_others(world, looks):
    enable_budgets(world.associated)
    make_budget(world.associated, Limit=1, OverBudget="Approve")
    access, decider = access_to(world), approver(world)
    batch = ordered(checked(make_batch(access, [person(1)])))
    other = make_batch(access, product_id=batch.product.external_id)
    looks.clear()

    deny_batch(batch=batch, actor=decider, reason="Not now")
    erase_unordered_recipients(words=[RECIPIENT["Name"]])

    assert (fresh(batch).status, fresh(other).status) == ("Cancelled", "Cancelled")
    assert looks
    assert all(looks)
