"""Reads a file of rows: checked by its first bytes here, parsed in a bounded process."""

import json
import logging
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from printing.bounded import TaskFailed, TaskTimedOut, run_bounded
from stores.batches.files.container import check_container, file_kind
from stores.batches.files.records import FileFault, FileRow, Problem, RowFileRefused, Table, file_error
from stores.batches.files.rows import MAX_COLUMNS, too_many_columns

logger = logging.getLogger(__name__)
LOOKED_AT = 1 << 20
SEPARATORS = (b",", b";", b"\t")
# A cell may hold separators, but not so many. Such a line fills blocks of half as many bytes.
CERTAINLY_TOO_MANY = 100 * MAX_COLUMNS
BLOCK = CERTAINLY_TOO_MANY // 2
MAX_BATCH_FILE_BYTES = 50 * 1024 * 1024
SECONDS = 60.0
# With the worker that waits for it at most 300 MB.
MEMORY_BYTES = 150 << 20
TASK = "stores.batches.files.parsing:parse"
SIMPLER = "Split the file, or copy its rows into a new sheet without formatting."


def read_rows(*, path: Path, content_type: str, name: str, max_rows: int) -> Table:
    """Every row as text, with what is wrong with it; raises RowFileRefused for a file that cannot be read."""
    size = path.stat().st_size
    if size > MAX_BATCH_FILE_BYTES:
        raise file_error(
            "file_too_large",
            f"The file has {size:,} bytes; at most {MAX_BATCH_FILE_BYTES:,} are allowed.",
            "Split it into smaller files.",
        )
    kind = file_kind(path, content_type, name)
    if kind == "xlsx":
        check_container(path)
    elif kind == "csv":
        _check_lines(path)
    else:
        _check_first_object(path)
    options = {"path": str(path.resolve()), "kind": kind, "content_type": content_type, "max_rows": max_rows}
    try:
        with run_bounded(TASK, {}, seconds=SECONDS, memory=MEMORY_BYTES, **options) as (reply, folder):
            return table_from_reply(reply, folder)
    except TaskTimedOut as error:
        raise file_error(
            "file_too_complex", f"Reading the file takes more than {SECONDS:.0f} seconds.", SIMPLER
        ) from error
    except TaskFailed as error:
        logger.warning("A file of rows could not be read: %s", error)
        raise file_error(
            "file_too_complex", "The file is damaged, or reading it takes too much memory.", SIMPLER
        ) from error


def _check_lines(path: Path) -> None:
    """Checks up to the first quote, which may hide ends of lines. What this quick look misses the parser refuses."""
    row, counts = 1, dict.fromkeys(SEPARATORS, 0)
    with path.open("rb") as stream:
        while (block := stream.read(BLOCK)) and b'"' not in block:
            if ends := block.count(b"\n") or block.count(b"\r"):
                row, counts = row + ends, dict.fromkeys(SEPARATORS, 0)
                continue
            counts = {separator: count + block.count(separator) for separator, count in counts.items()}
            most = max(counts, key=counts.__getitem__)
            if counts[most] > CERTAINLY_TOO_MANY:
                raise too_many_columns(counts[most] + stream.readline(LOOKED_AT).count(most) + 1, row)


def _check_first_object(path: Path) -> None:
    with path.open("rb") as stream:
        start = stream.read(LOOKED_AT).partition(b"}")[0]
    names = start.count(b'":') - start.count(b'\\":')
    if names > CERTAINLY_TOO_MANY:
        raise too_many_columns(names, 2)


def table_from_reply(reply: dict[str, Any], folder: Path) -> Table:
    if "refused" in reply:
        raise RowFileRefused(FileFault(**reply["refused"]))
    columns = reply["columns"]
    late = {int(number): problems for number, problems in reply["late"].items()}
    return Table(
        columns=columns,
        rows=list(_read_rows(folder / reply["file"], columns, late)),
        problems=[FileFault(**problem) for problem in reply["problems"]],
        dialect=reply["dialect"],
    )


def _read_rows(path: Path, columns: list[str], late: dict[int, list[Problem]]) -> Iterator[FileRow]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            number, cells, problems = json.loads(line)
            # Rows of JSON end where their last value stands.
            values = dict(zip_longest(columns, cells, fillvalue=""))
            yield FileRow(number, values, [*problems, *late.get(number, ())])
