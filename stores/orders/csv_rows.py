"""Orders as lines of CSV, with the same columns in the API and in the console."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from fulfillment.core.csv_rows import write_csv_row
from stores.orders.representations import EXPORT_COLUMNS

ROWS_PER_CHUNK = 500


class _Lines(list[str]):
    """A file-like buffer of CSV lines for the next chunk."""

    def write(self, line: str) -> None:
        self.append(line)

    def take(self) -> bytes:
        content = "".join(self).encode()
        self.clear()
        return content


def csv_chunks(renderings: Iterable[str], columns: Sequence[str] = EXPORT_COLUMNS) -> Iterator[bytes]:
    """The header and a line for each stored rendering, a few hundred at a time."""
    lines = _Lines()
    write_csv_row(lines, columns)
    for rendering in renderings:
        write_csv_row(lines, [_cell(value) for value in orjson.loads(rendering).values()])
        if len(lines) >= ROWS_PER_CHUNK:
            yield lines.take()
    yield lines.take()


def _cell(value: Any) -> Any:
    return ";".join(value) if isinstance(value, list) else value
