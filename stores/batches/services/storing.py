"""Stores the rows of a file, few long ones or many short ones in a statement."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from fulfillment.core.db.prepared import execute
from stores.batches.files.records import FileRow
from stores.batches.models import Batch, RowState
from stores.batches.row_contents import KeyedRow, cells_digest, keyed_rows, searched_words

ROWS_AT_ONCE, LENGTH_AT_ONCE = 1000, 1_000_000
# What a row that is not checked has.
UNCHECKED: dict[str, Any] = {
    "state": RowState.PENDING,
    "problems": [],
    "quantity": 0,
    "total": 0,
    "offer": None,
    "proof": "",
}
COLUMNS = (
    'batch_id, number, key, name, "values", words, digest, file_problems, '
    "state, problems, quantity, total, offer, proof"
)
# From one JSON text: Django would make an array of each column, which psycopg escapes letter by letter.
PUT = f"""
INSERT INTO stores_batchrow ({COLUMNS})
SELECT {COLUMNS} FROM jsonb_populate_recordset(NULL::stores_batchrow, %s::jsonb) {{}}
"""  # noqa: S608 - names of our columns


def write_rows(*, locked: Batch, rows: Iterable[FileRow]) -> None:
    """Makes these rows those of a locked batch: the same row sent again stays the same row."""
    stored = locked.rows.values_list("key", "digest", "file_problems", "number", "name", "values")
    # A digest of the cells, which all together would take hundreds of megabytes.
    former_by_key = {
        key: (digest, problems, (number, name, cells_digest(values)))
        for key, digest, problems, number, name, values in stored.iterator(ROWS_AT_ONCE)
    }
    new, changed, moved = [], [], []
    for row in keyed_rows(rows, locked.mapping):
        former = former_by_key.pop(row.key, None)
        if former is None:
            new.append(row)
        elif former[:2] != (row.digest, list(row.problems)):
            changed.append(row)
        elif former[2] != (row.number, row.name, cells_digest(row.values)):
            moved.append(row)
    locked.rows.filter(key__in=list(former_by_key)).delete()
    _put_rows(locked, new)
    position_fields = ["number", "name", "values", "words"]
    _put_rows(locked, moved, position_fields)
    _put_rows(locked, changed, [*position_fields, "digest", "file_problems", *UNCHECKED])


def _put_rows(locked: Batch, rows: Iterable[KeyedRow], fields: Sequence[str] = ()) -> None:
    """Adds rows, or overwrites these fields of known ones."""
    overwritten = ", ".join(f'"{name}" = excluded."{name}"' for name in fields)
    on_conflict = f"ON CONFLICT (batch_id, key) DO UPDATE SET {overwritten}" if fields else ""
    for part in _split_rows(rows):
        execute(PUT.format(on_conflict), [orjson.dumps([_row_record(locked, row) for row in part]).decode()])


def _split_rows(rows: Iterable[KeyedRow]) -> Iterator[list[KeyedRow]]:
    """The rows for one statement each, of which some copies are in memory at once."""
    part: list[KeyedRow] = []
    length = 0
    for row in rows:
        part.append(row)
        length += sum(map(len, (*row.values, *row.values.values())))
        if len(part) == ROWS_AT_ONCE or length > LENGTH_AT_ONCE:
            yield part
            part, length = [], 0
    if part:
        yield part


def _row_record(locked: Batch, row: KeyedRow) -> dict[str, Any]:
    return {
        "batch_id": locked.pk,
        "number": row.number,
        "key": row.key,
        "name": row.name,
        "values": row.values,
        "words": searched_words(row.key, row.values),
        "digest": row.digest,
        "file_problems": row.problems,
        **UNCHECKED,
    }
