"""Orders as lines of CSV: the same columns at every door that hands them out."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from fulfillment.core.csv_rows import write_csv_row
from stores.orders.representations import EXPORT_COLUMNS

ROWS_OF_A_CHUNK = 500


class _Lines(list[str]):
    """What rows are written to: lines gathered until they are sent."""

    def write(self, line: str) -> None:
        self.append(line)

    def taken(self) -> bytes:
        content = "".join(self).encode()
        self.clear()
        return content


def csv_chunks(renderings: Iterable[str], columns: Sequence[str] = EXPORT_COLUMNS) -> Iterator[bytes]:
    """The header and a line for each stored rendering, a few hundred at a time."""
    lines = _Lines()
    write_csv_row(lines, columns)
    for rendering in renderings:
        write_csv_row(lines, [_cell(value) for value in orjson.loads(rendering).values()])
        if len(lines) >= ROWS_OF_A_CHUNK:
            yield lines.taken()
    yield lines.taken()


def _cell(value: Any) -> Any:
    return ";".join(value) if isinstance(value, list) else value
