"""Reads and writes files of rows (CSV, XLSX and JSON) and matches their columns; knows no models."""

from stores.batches.files.matching import Match, match_columns
from stores.batches.files.reading import read_rows
from stores.batches.files.records import FileProblem, FileRefused, FileRow, Table
from stores.batches.files.writing import TemplateColumn, annotated_file, template_file

__all__ = [
    "FileProblem",
    "FileRefused",
    "FileRow",
    "Match",
    "Table",
    "TemplateColumn",
    "annotated_file",
    "match_columns",
    "read_rows",
    "template_file",
]
