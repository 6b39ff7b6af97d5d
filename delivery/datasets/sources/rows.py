"""What every reader gives: raw rows with their line numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from delivery.datasets.details import Details, RawDetails

# line, postal code, route, residential, business, total: as written in the file.
Row = tuple[int, str, str, str, str, str]
# The same, with details of the route; a source that has them gives these alone.
DetailedRow = tuple[int, str, str, str, str, str, RawDetails]


@dataclass
class Source:
    format: str
    # Each a Row, or each a DetailedRow where there are details.
    rows: Iterator[Any]
    header: list[str] = field(default_factory=list)
    columns: dict[str, int] = field(default_factory=dict)
    vintage: date | None = None
    notes: list[str] = field(default_factory=list)
    # The file itself says that its counts are invented.
    is_synthetic: bool = False
    # Filled while the rows are gathered; None where the file has no details.
    details: Details | None = None
