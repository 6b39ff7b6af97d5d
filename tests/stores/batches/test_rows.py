"""Rows keep their keys and what was found of them."""

import tracemalloc

import pytest

from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import Conflict, Invalid
from printing import text
from printing.bounded import PROJECT
from stores.batches.api.rows import BatchFileViewSet
from stores.batches.files.reading import MAX_BATCH_FILE_BYTES
from stores.batches.files.rows import MAX_CELLS, MAX_TABLE_BYTES
from stores.batches.models import MAX_ROWS, BatchRow
from stores.batches.selectors.batches import kept_mappings
from stores.batches.services.batches import MAX_KEPT, MAX_OPEN, cancel_batch, change_batch
from stores.batches.services.checking import correct_row
from stores.batches.services.contact_sheets import extreme_rows
from stores.batches.services.rows import MAX_CORRECTED_LENGTH, replace_rows
from stores.concurrency_limits import BATCHES
from tests.support.batches.batches import (
    addressed,
    checked,
    fresh,
    make_batch,
    ordered,
    person,
    rows_by_name,
    source_of,
    states_of,
)

pytestmark = pytest.mark.django_db


def identities(batch):
    return list(batch.rows.order_by("number").values_list("pk", "key"))


def test_same_rows_sent_again_are_the_same_rows(access):
    rows = [person(1), person(2), person(1)]
    batch = checked(make_batch(access, rows))
    before = identities(batch)

    replace_rows(batch=batch, source=source_of(rows))

    assert identities(batch) == before
    assert len({key for _, key in before}) == 3
    assert states_of(batch) == ["Ready"] * 3, "they need no new check"


def test_row_that_the_new_file_lacks_is_gone_and_others_stay_in_their_new_order(access):
    batch = checked(make_batch(access, [person(1), person(2), person(3)]))
    before = {row.name: row.pk for row in batch.rows.all()}

    replace_rows(batch=batch, source=source_of([person(3), person(4), person(1)]))

    rows = list(batch.rows.order_by("number"))
    assert [row.name for row in rows] == ["Person 003", "Person 004", "Person 001"]
    assert [row.state for row in rows] == ["Ready", "Pending", "Ready"]
    assert rows[0].pk == before["Person 003"]
    assert rows[2].pk == before["Person 001"]


def test_row_with_a_key_is_checked_again_only_when_its_content_changes(access):
    batch = checked(make_batch(access, [person(1, Key="a"), person(2, Key="b")]))

    replace_rows(batch=batch, source=source_of([person(1, Key="a", Job="Boss"), person(2, Key="b")]))

    rows = rows_by_name(batch)
    assert (rows["Person 001"].key, rows["Person 001"].state) == ("a", "Pending")
    assert (rows["Person 002"].key, rows["Person 002"].state) == ("b", "Ready")


def test_repeated_key_is_an_error_of_the_second_row(access):
    batch = checked(make_batch(access, [person(1, Key="a"), person(2, Key="a")]))

    first, second = batch.rows.order_by("number")
    assert (first.state, second.state) == ("Ready", "Error")
    [problem] = second.problems
    assert (problem["Code"], problem["Column"], problem["Value"]) == ("row_key_repeated", "Key", "a")
    assert problem["Remedy"]


def test_key_that_a_later_row_would_get_leaves_that_row_another(access):
    """A row without a key gets a digest of its cells, which anyone can compute."""
    batch = make_batch(access, [person(1, Key="a"), person(2, Key="")])
    of_second = rows_by_name(batch)["Person 002"].key

    replace_rows(batch=batch, source=source_of([person(1, Key=of_second), person(2, Key="")]))

    assert [key for _, key in identities(batch)] == [of_second, f"{of_second}.2"]


def test_row_changed_in_place_keeps_its_key(access):
    batch = checked(make_batch(access, [person(1), person(2)]))
    key = rows_by_name(batch)["Person 001"].key

    row = correct_row(batch=batch, row_key=key, cells={"Name": "Renamed"})

    assert (row.key, row.name, row.state) == (key, "Renamed", "Ready")
    assert batch.rows.get(key=key).values["Name"] == "Renamed"


def test_corrections_make_no_row_longer_than_a_file_of_such_rows_may_be(access):
    columns = [f"c{number}" for number in range(4)]
    long = dict.fromkeys(columns[:3], "x" * 9000)
    batch = make_batch(access, [person(1, **dict.fromkeys(columns, "")), person(2, **long, c3="")])
    short, longer = batch.rows.order_by("number")

    correct_row(batch=batch, row_key=short.key, cells={"c0": "x" * 9_000, "c1": "x" * 9_000})
    with pytest.raises(Invalid) as refused:
        correct_row(batch=batch, row_key=short.key, cells={"c2": "x" * 9_000})
    with pytest.raises(Invalid):
        correct_row(batch=batch, row_key=longer.key, cells={"c3": "x"})
    correct_row(batch=batch, row_key=longer.key, cells={"c2": "y" * 9_000, "Job": ""})

    [fault] = refused.value.faults
    assert (fault.pointer, fault.code) == ("", "max_length")
    assert "at most 20,000" in fault.message
    short.refresh_from_db()
    assert short.values["c2"] == ""


def test_unknown_column_of_a_changed_row_is_named(access):
    batch = make_batch(access, [person(1)])

    with pytest.raises(Invalid) as refusal:
        correct_row(batch=batch, row_key=batch.rows.get().key, cells={"Nmae": "x"})

    assert refusal.value.faults[0].code == "column_unknown"
    assert "Name" in refusal.value.message


def test_new_mapping_is_applied_to_the_rows(access):
    batch = checked(make_batch(access, [person(1, Other="Chief")]))

    batch = change_batch(batch=batch, values={"mapping": {**batch.mapping, "Title": "Other"}})
    assert states_of(batch) == ["Pending"]
    batch = checked(batch)

    assert (batch.status, states_of(batch)) == ("Checked", ["Ready"])


def test_mapping_to_what_is_not_there_is_refused(access):
    batch = make_batch(access, [person(1)])

    with pytest.raises(Invalid) as refusal:
        change_batch(batch=batch, values={"mapping": {"Nam": "Name", "Title": "Jobs"}})

    assert [(fault.pointer, fault.code) for fault in refusal.value.faults] == [
        ("/Mapping/Nam", "target_unknown"),
        ("/Mapping/Title", "column_unknown"),
    ]


def test_thousands_of_unknown_names_are_compared_with_few(access, monkeypatch):
    """Each comparison takes a hundredth of a second where a file has 256 columns: 12,000 names took three minutes."""
    batch = make_batch(access, [person(1)])
    compared = []
    monkeypatch.setattr(text, "near_name", lambda name, allowed: compared.append(name))
    names = {f"Nmae {number}": "x" for number in range(1000)}

    with pytest.raises(Invalid) as of_cells:
        correct_row(batch=batch, row_key=batch.rows.get().key, cells=names)
    with pytest.raises(Invalid) as of_targets:
        change_batch(batch=batch, values={"mapping": names})

    assert [len(refusal.value.faults) for refusal in (of_cells, of_targets)] == [1000, 1000]
    assert len(compared) <= 3 * text.COMPARED


def test_long_rows_are_written_few_at_a_time(access):
    """A file of 160 kB, with long column names, took a web process a minute of Python and 800 MB."""
    heads = [f"{number} {'貨' * 250}" for number in range(40)]
    source = source_of([dict.fromkeys(heads, str(number)) for number in range(200)])
    batch = make_batch(access, mode="Recipients")

    tracemalloc.start()
    try:
        replace_rows(batch=batch, source=source, check=False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert [row.values for row in batch.rows.order_by("number")] == [row.values for row in source.rows]
    # All rows have 2 million letters.
    assert peak < 20_000_000


def test_extremes_of_long_rows_are_looked_for_in_a_few_at_a_time(access):
    rows = [addressed(number, Job="x" * 9_000 + str(number)) for number in range(1, 601)]
    batch = make_batch(access, rows, mode="Recipients")

    tracemalloc.start()
    numbers = {row.number for row in extreme_rows(batch)}
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert numbers == {2, 101}, "the first of the shortest, and of the longest"
    assert most < 4_000_000


def test_batch_of_items_has_at_most_500_rows(access):
    batch = make_batch(access)

    with pytest.raises(Invalid) as refusal:
        replace_rows(batch=batch, source=source_of([person(number) for number in range(501)]))

    assert refusal.value.code == "too_many_rows"
    assert not BatchRow.objects.exists()


def test_rows_of_an_ordered_or_cancelled_batch_stay(access):
    batch = ordered(checked(make_batch(access, [person(1)])))
    other = cancel_batch(batch=make_batch(access, [person(1)], product_id=batch.product.external_id))

    for one, code in ((batch, "batch_ordered"), (other, "batch_cancelled")):
        with pytest.raises(Conflict) as refusal:
            replace_rows(batch=fresh(one), source=source_of([addressed(1)]))
        assert refusal.value.code == code


def test_caller_has_at_most_50_open_batches(access, monkeypatch):
    monkeypatch.setattr("stores.batches.services.batches.MAX_OPEN", 1)
    batch = make_batch(access)

    with pytest.raises(Conflict) as refusal:
        make_batch(access, product_id=batch.product.external_id)

    assert refusal.value.code == "too_many_batches"
    cancel_batch(batch=batch)
    assert make_batch(access, product_id=batch.product.external_id).status == "Empty"


def test_limits_of_batches_are_those_that_the_documents_say():
    costs, guide, errors = (
        " ".join((PROJECT / "docs" / name).read_text("utf-8").split())
        for name in ("request-costs.md", "guides/batches.md", "api/errors.md")
    )
    rows = {mode: f"{most:,}" for mode, most in MAX_ROWS.items()}

    assert f"| a caller has at most {MAX_OPEN} batches that are not ordered |" in costs
    assert f"| a batch has at most {rows['Recipients']} rows, or {rows['Items']} in `Items` mode |" in costs
    assert f"| a file of rows has at most {MAX_BATCH_FILE_BYTES >> 20} MB and {MAX_CELLS:,} cells |" in costs
    assert f"| the cells of a file of rows take at most {MAX_TABLE_BYTES >> 20} MB of memory" in costs
    assert (
        f"| a corrected row of a batch has at most {MAX_CORRECTED_LENGTH:,} characters, or no more" in costs
    )
    for work, limit in (("changes of batches, ", BATCHES), ("exports as CSV and ZIP, ", FILES)):
        [line] = [cost for cost in costs.split("| |") if work in cost]
        assert f"| {limit.limit} | {limit.per_caller_limit} | none |" in line
    assert f"| one order to one recipient | {rows['Items']} |" in guide
    assert f"| one order for each row, each to its own recipient | {rows['Recipients']} |" in guide
    assert f"| batches of a caller that are not ordered | {MAX_OPEN} |" in guide
    assert f"| the caller has {MAX_OPEN} batches that are not ordered |" in errors
    assert f"| mappings of a caller in a store | {MAX_KEPT} |" in guide
    assert f"| the caller keeps {MAX_KEPT} mappings in this store |" in errors
    assert BatchFileViewSet.maximum_bytes == MAX_BATCH_FILE_BYTES


def test_mapping_kept_under_a_name_serves_the_next_batch(access):
    batch = make_batch(access, [person(1, Other="Chief")])
    change_batch(batch=batch, values={"mapping": {**batch.mapping, "Title": "Other"}}, mapping_name="People")

    following = make_batch(
        access, [person(2, Other="Deputy")], product_id=batch.product.external_id, mapping_name="People"
    )

    assert following.mapping["Title"] == "Other"
    with pytest.raises(Invalid, match="no mapping is kept"):
        make_batch(access, product_id=batch.product.external_id, mapping_name="Others")


def test_caller_keeps_at_most_50_mappings_of_a_store(access, monkeypatch):
    monkeypatch.setattr("stores.batches.services.batches.MAX_KEPT", 1)
    batch = make_batch(access)
    change_batch(batch=batch, values={}, mapping_name="People")

    with pytest.raises(Conflict, match="1 mappings") as refusal:
        change_batch(batch=batch, values={"name": "Cards"}, mapping_name="Others")

    assert refusal.value.code == "too_many_mappings"
    assert fresh(batch).name == ""
    # Under a name in use it is replaced.
    change_batch(batch=batch, values={"name": "Cards"}, mapping_name="People")
    assert [mapping.name for mapping in kept_mappings(batch)] == ["People"]


def test_file_with_other_columns_is_mapped_anew_when_it_is_only_read(access):
    batch = make_batch(access, [person(1)])
    change_batch(batch=batch, values={"mapping": {"Name": "Name", "Email": "Mail"}})
    other = source_of([{"Name": "Ada", "Job": "Engineer"}])

    with pytest.raises(Invalid) as refusal:
        replace_rows(batch=fresh(batch), source=other)
    replace_rows(batch=fresh(batch), source=other, check=False)

    assert "lacks columns of the Mapping: Mail" in refusal.value.message
    assert fresh(batch).mapping == {"Name": "Name", "Title": "Job"}
