"""Two callers, or a caller and the worker, change one batch at the same moment: one of them wins as a whole."""

import random
import time
from collections.abc import Callable

import pytest

from fulfillment.core.errors import DomainError
from stores.batches.models import BatchRow
from stores.batches.selectors.batches import shown_batches
from stores.batches.services.batches import cancel_batch, change_batch
from stores.batches.services.checking import RowChecker, check_batch, correct_row
from stores.batches.services.ordering import order_batch, write_orders
from stores.batches.services.rows import replace_rows
from stores.budgets.services.ledger import check_balances
from stores.catalog.models import Product
from stores.orders.models import ActorKind, Order
from stores.orders.services.changes import Actor
from tests.factories.budgets import enable_budgets, make_budget
from tests.support.at_once import at_once
from tests.support.batches.batches import (
    access_to,
    addressed,
    checked,
    fresh,
    make_batch,
    person,
    source_of,
    states_of,
    used,
)
from tests.support.cases import cases
from tests.support.scenario import build_world

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
OWNER = Actor(ActorKind.APPLICATION)
ROUNDS = cases(4, 10)


@pytest.fixture
def access():
    world = build_world()
    enable_budgets(world.associated)
    make_budget(world.associated, Limit=100_000)
    access = access_to(world)
    access.store.refresh_from_db()
    return access


def tried(call: Callable[[], object]) -> Callable[[], str]:
    def answer() -> str:
        try:
            call()
        except DomainError as refusal:
            return refusal.code
        return "done"

    return answer


def later(chance: random.Random, seconds: float, call: Callable[[], object]) -> Callable[[], object]:
    wait = chance.random() * seconds

    def called() -> object:
        time.sleep(wait)
        return call()

    return called


def letters(access, count):
    """The card is made by the first of them."""
    made = (
        {"product_id": "card-two-sided"}
        if Product.objects.filter(external_id="card-two-sided").exists()
        else {}
    )
    rows = [addressed(number) for number in range(count)]
    return checked(make_batch(access, rows, mode="Recipients", **made))


def test_two_files_at_once_leave_the_rows_of_one_of_them(access):
    batch, chance = make_batch(access, [person(0)]), random.Random(1)
    files = [[person(number, Job=job) for number in range(40)] for job in ("Buyer", "Seller")]

    for _ in range(ROUNDS):
        sends = [
            tried(
                later(
                    chance, 0.05, lambda rows=rows: replace_rows(batch=fresh(batch), source=source_of(rows))
                )
            )
            for rows in files
        ]
        assert "done" in at_once(*sends)
        jobs = {row.values["Job"] for row in batch.rows.all()}
        assert len(jobs) == 1
        assert jobs <= {"Buyer", "Seller"}
        assert sorted(batch.rows.values_list("number", flat=True)) == list(range(2, 42))


def test_row_corrected_during_its_check_keeps_what_was_corrected(access):
    batch, chance = (
        make_batch(access, [person(number, Key=f"K{number}") for number in range(12)]),
        random.Random(2),
    )
    keys = list(batch.rows.order_by("number").values_list("key", flat=True))

    for turn in range(ROUNDS):
        replace_rows(
            batch=fresh(batch), source=source_of([person(n, Key=f"K{n}", Job=f"J{turn}") for n in range(12)])
        )
        name = f"Corrected {turn}"
        corrections = [
            later(
                chance,
                0.4,
                lambda key=key, name=name: correct_row(batch=fresh(batch), row_key=key, cells={"Name": name}),
            )
            for key in keys[:3]
        ]
        at_once(lambda: check_batch(batch_id=batch.pk), *map(tried, corrections))
        check_batch(batch_id=batch.pk)

        assert fresh(batch).status == "Checked"
        assert states_of(batch) == ["Ready"] * 12
        corrected = BatchRow.objects.filter(batch=batch, key__in=keys[:3])
        assert {row.values["Name"] for row in corrected} == {name}
        # What is kept was seen of these cells, not of those before.
        checker = RowChecker(fresh(batch))
        assert [row.proof for row in corrected] == [checker.check(row).proof for row in corrected]


def test_batch_ordered_twice_at_once_is_ordered_once(access):
    for turn in range(1, ROUNDS + 1):
        batch = letters(access, 3)
        orders = [tried(lambda batch=batch: order_batch(batch=fresh(batch), actor=OWNER))] * 3

        answers = at_once(*orders)
        at_once(*[lambda batch=batch: write_orders(batch_id=batch.pk)] * 2)

        assert answers.count("done") == 1, answers
        assert states_of(batch) == ["Ordered"] * 3
        assert Order.objects.count() == 3 * turn
        assert used() == [36 * turn]
    assert check_balances() == 0


def test_batch_cancelled_while_it_is_ordered_keeps_what_was_ordered(access):
    chance, ordered = random.Random(3), 0
    for _ in range(ROUNDS):
        batch = letters(access, 6)
        order_batch(batch=fresh(batch), actor=OWNER)

        at_once(
            lambda batch=batch: write_orders(batch_id=batch.pk),
            tried(later(chance, 0.6, lambda batch=batch: cancel_batch(batch=fresh(batch)))),
        )
        write_orders(batch_id=batch.pk)

        states = states_of(batch)
        ordered += states.count("Ordered")
        assert set(states) <= {"Ordered", "Cancelled"}
        assert fresh(batch).status in {"Ordered", "Cancelled"}
        assert Order.objects.count() == ordered
        assert not batch.rows.filter(state="Cancelled", order__isnull=False).exists()
        assert used() == [12 * ordered]
    assert check_balances() == 0


def test_file_sent_while_the_batch_is_ordered_changes_nothing_that_was_ordered(access):
    chance = random.Random(4)
    for _ in range(ROUNDS):
        batch = letters(access, 3)
        other = source_of([addressed(number, Name="Another") for number in range(5)])

        order, send = at_once(
            tried(later(chance, 0.05, lambda batch=batch: order_batch(batch=fresh(batch), actor=OWNER))),
            tried(
                later(
                    chance,
                    0.05,
                    lambda batch=batch, other=other: replace_rows(batch=fresh(batch), source=other),
                )
            ),
        )
        write_orders(batch_id=batch.pk)

        names = {row.values["Name"] for row in batch.rows.all()}
        assert sorted((order, send)).count("done") == 1, (order, send)
        assert (names == {"Another"}) == (send == "done")
        assert batch.rows.filter(order__isnull=False).count() == (3 if order == "done" else 0)
    assert check_balances() == 0


def test_batches_made_at_once_stay_within_the_limit(access, monkeypatch):
    monkeypatch.setattr("stores.batches.services.batches.MAX_OPEN", 2)
    product_id = make_batch(access).product.external_id

    for _ in range(ROUNDS):
        answers = at_once(*[tried(lambda: make_batch(access, product_id=product_id))] * 6)
        assert sorted(answers) == ["done"] + ["too_many_batches"] * 5
        cancel_batch(batch=shown_batches().exclude(status="Cancelled").latest("created"))


def test_mappings_kept_at_once_stay_within_the_limit(access, monkeypatch):
    monkeypatch.setattr("stores.batches.services.batches.MAX_KEPT", 1)
    first = make_batch(access)
    batches = [first] + [make_batch(access, product_id=first.product.external_id) for _ in range(3)]

    answers = at_once(
        *[
            tried(
                lambda batch=batch, number=number: change_batch(
                    batch=batch, values={}, mapping_name=f"{number}"
                )
            )
            for number, batch in enumerate(batches)
        ]
    )

    assert sorted(answers) == ["done"] + ["too_many_mappings"] * 3
