"""CSV, TSV and what is pasted from a web page: any of four delimiters, a header within the first lines."""

import codecs
import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import BinaryIO

from delivery.sources.columns import ALIASES, Columns, find_columns, is_complete
from delivery.sources.problems import FileRefused, ProblemLog
from delivery.sources.rows import Row, Source

DELIMITERS = ",\t;|"
HEADER_WITHIN = 10
LONGEST_LINE = 1 << 16


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("delivery.cp1252", _as_cp1252)


def read_table(stream: BinaryIO, chosen: Mapping[str, str], log: ProblemLog, postal_code: str = "") -> Source:
    """Bytes that are not UTF-8 are read as cp1252, each by itself: files put together from both occur."""
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="delivery.cp1252")
    lines = iter(lambda: text.readline(LONGEST_LINE), "")
    head = list(islice(lines, HEADER_WITHIN))
    place, delimiter, header, columns = _find_header(head, chosen)
    log.columns = {
        field: header[at].strip() if place >= 0 else f"column {at + 1}" for field, at in columns.items()
    }
    body = chain(head[place + 1 :], lines)
    return Source(
        format="csv",
        header=[cell.strip() for cell in header],
        columns=columns,
        rows=_rows(csv.reader(body, delimiter=delimiter), place + 1, columns, log, postal_code),
    )


def _find_header(head: list[str], chosen: Mapping[str, str]) -> tuple[int, str, list[str], Columns]:
    best: tuple[int, int, str, list[str]] = (0, 0, ",", [])
    for place, line in enumerate(head):
        for delimiter in DELIMITERS:
            cells = next(csv.reader([line.rstrip("\n")], delimiter=delimiter), [])
            known = len(find_columns(cells, {})) + sum(name in cells for name in chosen.values())
            if known > best[0]:
                best = (known, place, delimiter, cells)
    _, place, delimiter, header = best
    if not header and chosen and all(name.isdigit() for name in chosen.values()):
        delimiter = likely_delimiter(head[0])
        header = _likely_cells(head[0])
        place = -1 if _holds_counts(header, chosen) else 0
    columns = find_columns(header, chosen) if header else {}
    if not is_complete(columns):
        raise FileRefused(_missing(header or _likely_cells(head[0]), columns))
    return place, delimiter, header, columns


def likely_delimiter(line: str) -> str:
    return max(DELIMITERS, key=line.count)


def _likely_cells(line: str) -> list[str]:
    return next(csv.reader([line.rstrip("\n")], delimiter=likely_delimiter(line)), [])


def _holds_counts(cells: Sequence[str], chosen: Mapping[str, str]) -> bool:
    """Whether this first line is data already; only columns chosen by number can say so."""
    places = [int(chosen[field]) for field in ("residential", "business", "total") if field in chosen]
    return any(at <= len(cells) and cells[at - 1][:1].isdigit() for at in places)


def _missing(header: Sequence[str], columns: Columns) -> str:
    missing = [field for field in ALIASES if field not in columns and field != "total"]
    names = ", ".join(repr(cell.strip()[:40]) for cell in header[:20])
    return (
        f"No column for {', '.join(missing)} was found. The file's columns: {names}. "
        "Say which is which; a command does so with --map zip=Postcode,route=Carrier,residential=Homes,…"
    )


def _rows(
    reader: Iterator[list[str]], skipped: int, columns: Columns, log: ProblemLog, postal_code: str
) -> Iterator[Row]:
    places = [columns.get(field, -1) for field in ALIASES]
    at_zip, at_route, at_residential, at_business, at_total = places
    needed = max(places)
    line = skipped
    try:
        for cells in reader:
            line = skipped + reader.line_num  # type: ignore[attr-defined]
            if len(cells) <= needed or not cells[at_route]:
                if any(cell.strip() for cell in cells):
                    _log_odd_line(line, cells, log)
                continue
            yield (
                line,
                cells[at_zip] if at_zip >= 0 else postal_code,
                cells[at_route],
                cells[at_residential] if at_residential >= 0 else "",
                cells[at_business] if at_business >= 0 else "",
                cells[at_total] if at_total >= 0 else "",
            )
    except csv.Error as error:
        raise FileRefused(f"The file cannot be read near line {line + 1}: {error}.") from error


def _log_odd_line(line: int, cells: Sequence[str], log: ProblemLog) -> None:
    first = next(cell.strip().lower() for cell in cells if cell.strip())
    is_footer = first.startswith(("total", "grand total"))
    log.add(line, "", ",".join(cells), "W_FOOTER" if is_footer else "E_SHAPE")
