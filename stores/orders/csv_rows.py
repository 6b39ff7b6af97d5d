"""Orders as lines of CSV, with the same columns in the API and in the console."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from fulfillment.core.csv_rows import csv_pieces
from stores.orders.representations import EXPORT_COLUMNS


def csv_chunks(renderings: Iterable[str], columns: Sequence[str] = EXPORT_COLUMNS) -> Iterator[bytes]:
    """The header and a line for each stored rendering, a few hundred at a time."""
    return csv_pieces(columns, ([_cell(value) for value in orjson.loads(one).values()] for one in renderings))


def _cell(value: Any) -> Any:
    return ";".join(value) if isinstance(value, list) else value
