"""What every reader gives: raw rows with their line numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

# line, postal code, route, residential, business, total: as written in the file.
Row = tuple[int, str, str, str, str, str]


@dataclass
class Source:
    format: str
    rows: Iterator[Row]
    header: list[str] = field(default_factory=list)
    columns: dict[str, int] = field(default_factory=dict)
    vintage: date | None = None
    notes: list[str] = field(default_factory=list)
    # The file itself says that its counts are invented.
    is_synthetic: bool = False
