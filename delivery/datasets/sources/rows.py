"""The output of all readers: raw rows with their line numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from delivery.datasets.details import Details, RawDetails

# line, postal code, route, residential, business, total: as written in the file.
Row = tuple[int, str, str, str, str, str]
# A row with details of the route; a source with details yields only these.
DetailedRow = tuple[int, str, str, str, str, str, RawDetails]


@dataclass
class Source:
    format: str
    # All of type Row or, with details, all DetailedRow.
    rows: Iterator[Any]
    header: list[str] = field(default_factory=list)
    columns: dict[str, int] = field(default_factory=dict)
    vintage: date | None = None
    notes: list[str] = field(default_factory=list)
    # The file marks its counts as invented.
    is_synthetic: bool = False
    # Filled while rows are read; None without details.
    details: Details | None = None
