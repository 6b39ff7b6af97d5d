"""Reads CSV, TSV and tables pasted from web pages, and detects the three file formats by their first bytes."""

import codecs
import csv
import io
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any, BinaryIO

from delivery.datasets.details import Details
from delivery.datasets.populations import SYNTHETIC_MARK
from delivery.datasets.problems import BadRouteFile, ProblemLog
from delivery.datasets.sources.archives import OpenedFile
from delivery.datasets.sources.cells import (
    ALIASES,
    DETAIL_ALIASES,
    Columns,
    Source,
    find_columns,
    is_complete,
)
from delivery.datasets.sources.delstat import looks_like_delstat, read_delstat
from delivery.datasets.sources.gis import read_gis

DELIMITERS = ",\t;|"
HEADER_WITHIN = 10
# The shape of a route is a long cell; the csv module's limit applies.
MAX_LINE_LENGTH = 1 << 17
MAX_COLUMNS = 500
# Beyond, a quote is open by mistake, and the next one would make all lines between them one cell.
LINES_OF_A_ROW = 20
FORMATS = ("auto", "csv", "gis-json", "delstat")
PEEKED = 4096


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("delivery.cp1252", _as_cp1252)


def read_table(
    stream: BinaryIO, choices: Mapping[str, str], log: ProblemLog, postal_code: str = ""
) -> Source:
    """Reads UTF-8; single invalid bytes are read as cp1252, because merged files mix both."""
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="delivery.cp1252")
    lines = iter(lambda: text.readline(MAX_LINE_LENGTH), "")
    head = list(islice(lines, HEADER_WITHIN))
    row, delimiter, header, columns = _find_header(head, choices)
    log.columns = {
        field: header[index].strip() if row >= 0 else f"column {index + 1}"
        for field, index in columns.items()
    }
    body = _BoundedRows(chain(head[row + 1 :], lines))
    details = Details() if DETAIL_ALIASES.keys() & columns.keys() else None
    return Source(
        format="csv",
        header=[cell.strip() for cell in header],
        columns=columns,
        rows=_read_rows(
            body.numbered_rows(delimiter), row + 1, columns, log, postal_code, has_details=details is not None
        ),
        details=details,
        is_synthetic=any(_is_mark(line) for line in head[: max(row, 0)]),
    )


def _is_mark(line: str) -> bool:
    """Whether the line is the mark of invented counts, even if a spreadsheet changed its form."""
    return line.lstrip('\ufeff"').startswith(SYNTHETIC_MARK)


class _BoundedRows:
    """Limits the size of a row, because csv.reader holds a row with open quotes in memory."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines, self.of_row = lines, 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.of_row += 1
            if self.of_row > LINES_OF_A_ROW:
                raise csv.Error(f"an opening quote is not closed within {LINES_OF_A_ROW} lines")
            yield line

    def numbered_rows(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """Yields each row with the number of its last line."""
        reader = csv.reader(self, delimiter=delimiter)
        for cells in reader:
            self.of_row = 0
            yield reader.line_num, cells


def _find_header(head: list[str], choices: Mapping[str, str]) -> tuple[int, str, list[str], Columns]:
    best: tuple[int, int, str, list[str]] = (0, 0, ",", [])
    for row, line in enumerate(head):
        for delimiter in DELIMITERS:
            if line.count(delimiter) >= MAX_COLUMNS:
                continue
            cells = next(csv.reader([line.rstrip("\n")], delimiter=delimiter), [])
            score = len(find_columns(cells, {})) + sum(name in cells for name in choices.values())
            if score > best[0]:
                best = (score, row, delimiter, cells)
    _, row, delimiter, header = best
    if not header and choices and all(name.isdigit() for name in choices.values()):
        delimiter = likely_delimiter(head[0])
        header = _likely_cells(head[0])
        row = -1 if _holds_counts(header, choices) else 0
    columns = find_columns(header, choices) if header else {}
    if not is_complete(columns):
        raise BadRouteFile(_find_missing(header or _likely_cells(head[0]), columns))
    return row, delimiter, header, columns


def likely_delimiter(line: str) -> str:
    return max(DELIMITERS, key=line.count)


def _likely_cells(line: str) -> list[str]:
    if line.count(likely_delimiter(line)) >= MAX_COLUMNS:
        raise BadRouteFile(
            f"The first line has more than {MAX_COLUMNS} columns, so this is not a file of routes."
        )
    return next(csv.reader([line.rstrip("\n")], delimiter=likely_delimiter(line)), [])


def _holds_counts(cells: Sequence[str], choices: Mapping[str, str]) -> bool:
    """Whether this first line is data already; only columns chosen by number show that."""
    numbers = [int(choices[field]) for field in ("residential", "business", "total") if field in choices]
    return any(number <= len(cells) and cells[number - 1][:1].isdigit() for number in numbers)


def _find_missing(header: Sequence[str], columns: Columns) -> str:
    missing_fields = [field for field in ALIASES if field not in columns and field != "total"]
    names = ", ".join(repr(cell.strip()[:40]) for cell in header[:20])
    return (
        f"No column for {', '.join(missing_fields)} was found. The file's columns: {names}. "
        "Say which is which; a command does so with --map zip=Postcode,route=Carrier,residential=Homes,…"
    )


def _read_rows(
    numbered_rows: Iterator[tuple[int, list[str]]],
    skipped: int,
    columns: Columns,
    log: ProblemLog,
    postal_code: str,
    *,
    has_details: bool,
) -> Iterator[Any]:
    """Yields Rows, or DetailedRows if `has_details`."""
    positions = [columns.get(field, -1) for field in ALIASES]
    at_zip, at_route, at_residential, at_business, at_total = positions
    last_position = max(positions)
    # What a line does not have is taken from behind its end.
    details_of = itemgetter(*(columns.get(field, -1) for field in DETAIL_ALIASES))
    last_detail = max(columns.get(field, -1) for field in DETAIL_ALIASES)
    line = skipped
    try:
        for number, cells in numbered_rows:
            line = skipped + number
            if len(cells) <= last_position or not cells[at_route]:
                if any(cell.strip() for cell in cells):
                    _log_suspicious_line(line, cells, log)
                continue
            row = (
                line,
                cells[at_zip] if at_zip >= 0 else postal_code,
                cells[at_route],
                cells[at_residential] if at_residential >= 0 else "",
                cells[at_business] if at_business >= 0 else "",
                cells[at_total] if at_total >= 0 else "",
            )
            if not has_details:
                yield row
                continue
            cells += [""] * max(1, last_detail + 2 - len(cells))
            yield *row, details_of(cells)
    except csv.Error as error:
        raise BadRouteFile(f"The file cannot be read near line {line + 1}: {error}.") from error


def _log_suspicious_line(line: int, cells: Sequence[str], log: ProblemLog) -> None:
    first = next(cell.strip().lower() for cell in cells if cell.strip())
    is_footer = first.startswith(("total", "grand total"))
    log.add(line, "", ",".join(cells[:MAX_COLUMNS]), "W_FOOTER" if is_footer else "E_SHAPE")


def read_source(
    file: OpenedFile,
    log: ProblemLog,
    *,
    format_name: str = "auto",
    choices: Mapping[str, str] | None = None,
    postal_code: str = "",
) -> Source:
    stream = file.stream
    if format_name == "auto":
        format_name = detect_format(stream.peek(PEEKED))
    if stream.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
        stream.read(len(BOM_UTF8))
    if format_name == "gis-json":
        return read_gis(stream, choices or {}, log)
    if format_name == "delstat":
        return read_delstat(stream)
    return read_table(stream, choices or {}, log, postal_code)


def detect_format(head: bytes) -> str:
    if not head.strip():
        raise BadRouteFile("The file is empty.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadRouteFile("The file is UTF-16. Save it as UTF-8, for example as 'CSV UTF-8'.")
    if head.startswith((b"%PDF", b"\xd0\xcf\x11\xe0")):
        raise BadRouteFile("This is not a text file. Save the table as CSV (UTF-8) first.")
    start = head.removeprefix(BOM_UTF8).lstrip()[:1]
    if start in {b"{", b"["}:
        return "gis-json"
    return "delstat" if looks_like_delstat(head) else "csv"
