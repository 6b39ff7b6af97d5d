"""What a row file holds, and what is wrong with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

# A problem of a row or a file, with the members that the API shows.
Problem = dict[str, Any]

# Problems show this much of a long value.
VALUE_SHOWN = 100
ERROR, WARNING = "Error", "Warning"


@dataclass(frozen=True)
class FileFault:
    """What is wrong with a file, a row or a cell; `field` is the target of its column."""

    code: str
    message: str
    remedy: str
    value: str | None = None
    severity: str = ERROR
    row: int | None = None
    column: str | None = None
    field: str | None = None

    def at(self, row: int | None, column: str | None) -> "FileFault":
        """The problem at its place, with the beginning of a long value."""
        value = None if self.value is None else self.value[:VALUE_SHOWN]
        return replace(self, row=row, column=column, value=value)

    @property
    def record(self) -> Problem:
        return {
            "Code": self.code,
            "Severity": self.severity,
            "Column": self.column,
            "Field": self.field,
            "Value": self.value,
            "Message": self.message,
            "Remedy": self.remedy,
        }


class RowFileRefused(Exception):
    """The file as a whole cannot be read."""

    def __init__(self, problem: FileFault) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class FileRow:
    """`number` is the row's number in a spreadsheet, where the heads are usually row 1."""

    number: int
    values: Mapping[str, str]
    problems: Sequence[Problem] = ()


@dataclass(frozen=True)
class Table:
    columns: list[str]
    rows: list[FileRow]
    problems: list[FileFault]
    dialect: dict[str, Any]


def file_error(
    code: str,
    message: str,
    remedy: str,
    *,
    row: int | None = None,
    column: str | None = None,
    value: str | None = None,
) -> RowFileRefused:
    return RowFileRefused(FileFault(code, message, remedy, value).at(row, column))
