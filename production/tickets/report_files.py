"""Reads reports from files of a return folder, by file extension."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from production.interface import Report
from production.tickets.csv_reports import read_csv_reports
from production.tickets.json_reports import read_json_reports
from production.tickets.xjmf import read_xjmf

READERS: Mapping[str, Callable[[bytes], Sequence[Report]]] = {
    ".csv": read_csv_reports,
    ".json": read_json_reports,
    ".xjdf": read_xjmf,
    ".xjmf": read_xjmf,
    ".xml": read_xjmf,
}
REPORT_SUFFIXES = frozenset(READERS)


def read_report_file(name: str, body: bytes) -> Sequence[Report]:
    """Raises ValueError with the name of the file in front."""
    reader = READERS.get(PurePosixPath(name).suffix.lower())
    if reader is None:
        raise ValueError(f"{name}: reports are read from {', '.join(sorted(READERS))}.")
    try:
        return reader(body)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
