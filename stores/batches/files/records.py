"""What a row file holds, and what is wrong with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# A problem of a row or a file, with the members that the API shows.
Problem = dict[str, Any]

# Problems show this much of a long value.
VALUE_SHOWN = 100
ERROR, WARNING = "Error", "Warning"


@dataclass(frozen=True)
class FileProblem:
    code: str
    message: str
    remedy: str
    row: int | None = None
    column: str | None = None
    value: str | None = None
    severity: str = ERROR

    @property
    def record(self) -> Problem:
        return problem_record(
            self.code,
            self.message,
            self.remedy,
            severity=self.severity,
            column=self.column,
            value=self.value,
        )


class RowFileRefused(Exception):
    """The file as a whole cannot be read."""

    def __init__(self, problem: FileProblem) -> None:
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
    problems: list[FileProblem]
    dialect: dict[str, Any]


@dataclass(frozen=True)
class CellFault:
    """A problem of a cell before the name of its column is known."""

    code: str
    message: str
    remedy: str
    value: str | None = None
    severity: str = ERROR

    def at(self, row: int | None, column: str | None) -> FileProblem:
        value = None if self.value is None else self.value[:VALUE_SHOWN]
        return FileProblem(self.code, self.message, self.remedy, row, column, value, self.severity)


def file_error(
    code: str,
    message: str,
    remedy: str,
    *,
    row: int | None = None,
    column: str | None = None,
    value: str | None = None,
) -> RowFileRefused:
    return RowFileRefused(CellFault(code, message, remedy, value).at(row, column))


def problem_record(
    code: str,
    message: str,
    remedy: str,
    *,
    severity: str = ERROR,
    field: str | None = None,
    column: str | None = None,
    value: str | None = None,
) -> Problem:
    return {
        "Code": code,
        "Severity": severity,
        "Column": column,
        "Field": field,
        "Value": value,
        "Message": message,
        "Remedy": remedy,
    }
