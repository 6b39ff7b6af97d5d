"""Reads a file of rows into a batch; the file itself is not kept."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from accounts.callers import Caller
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.db.locks import lock_of_its_own
from fulfillment.core.errors import Busy, Invalid
from printing.bounded import ScratchFolder
from stores.batches.files.matching import match_columns
from stores.batches.files.reading import MAX_BATCH_FILE_BYTES, read_rows
from stores.batches.files.records import FileRow, RowFileRefused, Table
from stores.batches.models import MAX_ROWS, Batch, BatchMode
from stores.batches.selectors.batches import target_labels
from stores.batches.services.rows import RowSource, replace_rows

UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def receive_rows(*, batch: Batch, caller: Caller, file: UploadedFile | None) -> Batch:
    """Replaces the rows of the batch by those of a form's file, which is read in a slot; raises Invalid for one that
    cannot be read."""
    with alone_for(batch):
        with FILES.slot(caller.key):
            source = read_source(
                batch=batch,
                content=file.read(MAX_BATCH_FILE_BYTES + 1) if file else b"",
                content_type=(file.content_type or "") if file else "",
                name=(file.name or "") if file else "",
            )
        return replace_rows(batch=batch, source=source, check=False)


@contextmanager
def alone_for(batch: Batch) -> Iterator[None]:
    """Raises Busy while another file for the batch is read, on any machine: the later one would wait for its rows."""
    with lock_of_its_own(int.from_bytes(batch.pk.bytes[:8], "big", signed=True)) as is_ours:
        if not is_ours:
            raise Busy(_("Another file for this batch is being read. Wait, then send yours again."))
        yield


def read_source(*, batch: Batch, content: bytes, content_type: str, name: str = "") -> RowSource:
    """The rows of a file. Its columns are matched by their names, unless the batch has a mapping of its own."""
    targets, table = target_labels(batch), _read_upload(batch, content, content_type, name)
    columns = [_make_storable(name) for name in table.columns]
    return RowSource(
        columns=columns,
        rows=[
            FileRow(row.number, _all_storable(row.values), list(map(_all_storable, row.problems)))
            for row in table.rows
        ],
        matches=match_columns(columns=columns, targets=list(targets), labels=targets),
        problems=[_all_storable(problem.record) for problem in table.problems],
    )


def _all_storable(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        _make_storable(name): _make_storable(value) if isinstance(value, str) else value
        for name, value in record.items()
    }


def _make_storable(text: str) -> str:
    """PostgreSQL takes neither NUL nor half a character, and JSON no half; reading has named them as problems."""
    return text if text.isascii() and "\0" not in text else UNSTORABLE.sub("\ufffd", text)


def _read_upload(batch: Batch, content: bytes, content_type: str, name: str) -> Table:
    with ScratchFolder("batch-rows") as folder:
        path = folder / "rows"
        path.write_bytes(content)
        try:
            return read_rows(
                path=path,
                content_type=content_type,
                name=name,
                max_rows=MAX_ROWS[BatchMode(batch.mode)],
            )
        except RowFileRefused as refusal:
            problem = refusal.problem
            members = _all_storable({"Row": problem.row, "Column": problem.column, "Value": problem.value})
            raise Invalid(
                _make_storable(f"{problem.message} {problem.remedy}".strip()),
                code=problem.code,
                members={name: value for name, value in members.items() if value is not None},
            ) from refusal
