"""A batch whose columns are taken for other fields: its rows get other keys and contents, and keep their cells."""

import tracemalloc

import pytest

from stores.batches.models import BatchRow
from stores.batches.selectors.rows import rows_of
from stores.batches.services.batches import change_batch
from tests.support.batches.batches import checked, fresh, make_batch, person, states_of

pytestmark = pytest.mark.django_db


def test_rows_that_exchange_their_keys_are_found_by_the_new_ones(access):
    batch = make_batch(access, [person(1, Key="a", Other="b"), person(2, Key="b", Other="Zürich")])
    before = list(batch.rows.order_by("number").values_list("values", flat=True))

    change_batch(batch=batch, values={"mapping": {**batch.mapping, "RowKey": "Other"}})

    rows = list(batch.rows.order_by("number"))
    assert [row.key for row in rows] == ["b", "Zürich"]
    assert [row.values for row in rows] == before
    assert rows[0].words.splitlines()[0] == "b"
    for words, numbers in (("zurich", [3]), ("person 001", [2]), ("person2@", [3])):
        assert list(rows_of(batch, words=words).values_list("number", flat=True)) == numbers


def test_rows_that_ask_for_the_same_stay_checked(access):
    batch = checked(make_batch(access, [person(1, Other="Engineer"), person(2, Other="Chief")]))
    pending = {"state": "Pending", "quantity": 0, "proof": "", "offer": None, "problems": []}

    change_batch(batch=batch, values={"mapping": {**batch.mapping, "Title": "Other"}})

    assert states_of(batch) == ["Ready", "Pending"]
    assert BatchRow.objects.filter(batch=batch, number=3).values(*pending).get() == pending


def test_keys_that_repeat_are_said_and_forgotten(access):
    batch = make_batch(access, [person(1, Key="1", Other="same"), person(2, Key="2", Other="same")])

    change_batch(batch=batch, values={"mapping": {**batch.mapping, "RowKey": "Other"}})
    [said] = batch.rows.get(number=3).file_problems
    change_batch(batch=fresh(batch), values={"mapping": batch.mapping})

    assert said["Code"] == "row_key_repeated"
    assert list(batch.rows.order_by("number").values_list("key", "file_problems")) == [("1", []), ("2", [])]


@pytest.mark.slow
def test_mapping_of_many_cells_is_changed_row_by_row(access):
    columns = [f"Column {number}" for number in range(60)]
    rows = [person(number, **dict.fromkeys(columns, f"a cell of row {number}")) for number in range(2000)]
    batch = make_batch(access, rows, mode="Recipients")
    del rows

    tracemalloc.start()
    try:
        change_batch(batch=batch, values={"mapping": {"Name": "Mail", "RowKey": "Name"}})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    # All cells would take 15 million bytes.
    assert peak < 8_000_000
