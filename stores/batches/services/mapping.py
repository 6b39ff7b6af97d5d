"""Gives the rows of a batch another mapping. Their cells stay, which are too much to be written once more."""

from collections.abc import Iterator
from itertools import islice, tee
from typing import Any, NamedTuple

import orjson

from fulfillment.core.db.prepared import execute
from stores.batches.files.records import FileRow, Problem
from stores.batches.models import Batch, RowState
from stores.batches.row_contents import fold_text, keyed_rows
from stores.batches.services.rows import KEY_CODES
from stores.batches.services.storing import ROWS_AT_ONCE, UNCHECKED

CHANGE = """
UPDATE stores_batchrow own
SET key = changed.key, name = changed.name, digest = changed.digest, file_problems = changed.problems::jsonb
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[])
    AS changed(id, key, name, digest, problems)
WHERE own.id = changed.id
"""
# The key is the first line of the words.
NAME = """
UPDATE stores_batchrow own
SET key = named.key, words = named.folded || coalesce(substr(words, nullif(strpos(words, chr(10)), 0)), '')
FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS named(id, key, folded)
WHERE own.id = named.id
"""


class Stored(NamedTuple):
    pk: int
    number: int
    key: str
    name: str
    digest: str
    problems: list[Problem]
    values: dict[str, str]


class RowChange(NamedTuple):
    """A change of a row, without its cells. A new key waits under one that no row has: another may have it still."""

    pk: int
    former_key: str
    key: str
    name: str
    digest: str
    problems: str

    @property
    def has_new_key(self) -> bool:
        return self.key != self.former_key

    @property
    def record(self) -> tuple[Any, ...]:
        key = f"/{self.pk}" if self.has_new_key else self.key
        return self.pk, key, self.name, self.digest, self.problems


def apply_mapping(locked: Batch) -> None:
    """Gives the rows of a locked batch the keys and contents of its mapping; those that change are pending again."""
    names: list[tuple[int, str, str]] = []
    changes = _find_changes(locked)
    while chunk := list(islice(changes, ROWS_AT_ONCE)):
        execute(CHANGE, _columns_of([change.record for change in chunk]))
        checked = locked.rows.filter(pk__in=[change.pk for change in chunk]).exclude(state=RowState.PENDING)
        checked.update(**UNCHECKED)
        names += [(change.pk, change.key, fold_text(change.key)) for change in chunk if change.has_new_key]
    for start in range(0, len(names), ROWS_AT_ONCE):
        execute(NAME, _columns_of(names[start : start + ROWS_AT_ONCE]))


def _find_changes(locked: Batch) -> Iterator[RowChange]:
    rows = locked.rows.order_by("number").values_list(
        "pk", "number", "key", "name", "digest", "file_problems", "values"
    )
    stored, row_contents = tee(Stored(*row) for row in rows.iterator(ROWS_AT_ONCE))
    for row, keyed in zip(stored, keyed_rows(map(_source_of, row_contents), locked.mapping), strict=True):
        if row[2:6] != (keyed.key, keyed.name, keyed.digest, list(keyed.problems)):
            problems = orjson.dumps(list(keyed.problems)).decode()
            yield RowChange(row.pk, row.key, keyed.key, keyed.name, keyed.digest, problems)


def _source_of(row: Stored) -> FileRow:
    return FileRow(
        row.number, row.values, [problem for problem in row.problems if problem["Code"] not in KEY_CODES]
    )


def _columns_of(records: list[Any]) -> list[list[Any]]:
    return [list(column) for column in zip(*records, strict=True)]
