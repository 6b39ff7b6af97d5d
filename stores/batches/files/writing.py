"""Writes files of rows: the template of a product, and rows beside their problems."""

import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any, Literal

from fulfillment.core.csv_rows import BOM, csv_pieces, inert_cell
from stores.batches.files.csv_files import NOTE
from stores.batches.files.records import ERROR, FileRow
from stores.batches.files.rows import column_letters
from stores.batches.files.spreadsheets import books, cells, comments, datavalidation, styles
from stores.batches.files.text_files import CONTROL
from stores.batches.files.workbooks import ALLOWED_VALUES

Format = Literal["csv", "xlsx"]
PROBLEMS = "Problems"
PIECE = 1 << 16
# So far down a list of allowed values opens in a template.
LISTED_ROWS = 20_000
# The colors of cells with an error, and with a warning.
FILLS = {True: "FFFFD6D6", False: "FFFFF2CC"}


@dataclass(frozen=True)
class TemplateColumn:
    name: str
    example: str
    allowed: Sequence[str]
    is_required: bool
    help: str


def template_file(*, format: Format, columns: Sequence[TemplateColumn]) -> bytes:  # noqa: A002
    """Heads, an example row and what each column takes."""
    if format == "csv":
        notes = ([f"{NOTE}{column.name}: {_explain_column(column)}"] for column in columns)
        rows = chain([[column.example for column in columns]], notes)
        return BOM + b"".join(csv_pieces([column.name for column in columns], rows))
    book = books.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Rows"
    allowed = [column for column in columns if column.allowed]
    for index, column in enumerate(columns):
        letters = column_letters(index)
        sheet.column_dimensions[letters].width = max(12, len(column.name) + 4)
        # Text, so that codes keep their zeros.
        sheet.column_dimensions[letters].number_format = "@"
        if column.allowed:
            sheet.add_data_validation(_make_choice(letters, allowed.index(column), len(column.allowed)))
    sheet.append([_style_head(sheet, column) for column in columns])
    sheet.append([_text_cell(sheet, column.example) for column in columns])
    if allowed:
        _list_allowed(book.create_sheet(ALLOWED_VALUES), allowed)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def annotated_file(*, format: Format, columns: Sequence[str], rows: Iterable[FileRow]) -> Iterator[bytes]:  # noqa: A002
    """The rows with a last column that says what is wrong; a file that came from here loses its old one."""
    names = [column for column in columns if column != PROBLEMS]
    if format == "csv":
        lines = ([*(row.values.get(name, "") for name in names), _describe_problems(row)] for row in rows)
        yield BOM
        yield from csv_pieces([*names, PROBLEMS], lines)
        return
    with tempfile.TemporaryFile() as target:
        _write_annotated(target, names, rows)
        target.seek(0)
        while piece := target.read(PIECE):
            yield piece


def _write_annotated(target: IO[bytes], names: Sequence[str], rows: Iterable[FileRow]) -> None:
    book = books.Workbook(write_only=True)
    sheet = book.create_sheet("Rows")
    sheet.freeze_panes = "A2"
    sheet.append([_text_cell(sheet, name, is_bold=True) for name in [*names, PROBLEMS]])
    for row in rows:
        marks: dict[str | None, bool] = {}
        for problem in row.problems:
            column = problem["Column"]
            marks[column] = marks.get(column, False) or problem["Severity"] == ERROR
        cells: list[Any] = [
            _text_cell(sheet, row.values.get(name, ""), is_error=marks.get(name)) for name in names
        ]
        sheet.append([*cells, _text_cell(sheet, _describe_problems(row))])
    book.save(target)


def _describe_problems(row: FileRow) -> str:
    return "\n".join(
        f"{problem['Column'] + ': ' if problem['Column'] else ''}{problem['Message']} {problem['Remedy']}".strip()
        for problem in row.problems
    )


def _text_cell(sheet: Any, text: str, *, is_bold: bool = False, is_error: bool | None = None) -> Any:
    """A cell that is text for every spreadsheet, marked where it has an error or a warning."""
    text = CONTROL.sub("\ufffd", inert_cell(text))
    if not text and is_error is None:
        return None
    cell = cells.WriteOnlyCell(sheet, value=text)
    cell.number_format = "@"
    if is_bold:
        cell.font = styles.Font(bold=True)
    if is_error is not None:
        cell.fill = styles.PatternFill("solid", fgColor=FILLS[is_error])
    return cell


def _style_head(sheet: Any, column: TemplateColumn) -> Any:
    cell = _text_cell(sheet, column.name, is_bold=True)
    cell.comment = comments.Comment(_explain_column(column), "")
    return cell


def _explain_column(column: TemplateColumn) -> str:
    allowed = f"One of: {', '.join(column.allowed)}." if column.allowed else ""
    parts = ["Required." if column.is_required else "Optional.", column.help, allowed]
    return " ".join(part for part in parts if part)


def _make_choice(letters: str, index: int, count: int) -> Any:
    source = column_letters(index)
    listed = f"'{ALLOWED_VALUES}'!${source}$2:${source}${count + 1}"
    choice = datavalidation.DataValidation(
        type="list", formula1=listed, allow_blank=True, showErrorMessage=True
    )
    choice.add(f"{letters}2:{letters}{LISTED_ROWS}")
    return choice


def _list_allowed(sheet: Any, columns: Sequence[TemplateColumn]) -> None:
    sheet.append([_text_cell(sheet, column.name, is_bold=True) for column in columns])
    for index in range(max(len(column.allowed) for column in columns)):
        sheet.append(
            [
                _text_cell(sheet, column.allowed[index]) if index < len(column.allowed) else None
                for column in columns
            ]
        )
