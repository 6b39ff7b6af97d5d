"""Parses a file in a process of its own; knows no settings."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from stores.batches.files.csv_files import read_csv
from stores.batches.files.json_files import read_json
from stores.batches.files.records import Problem, RowFileRefused
from stores.batches.files.rows import RowsWriter

ROWS = "rows.jsonl"


def parse(folder: Path, *, path: str, kind: str, content_type: str, max_rows: int) -> dict[str, Any]:
    """Writes the rows into the folder and returns the rest."""
    source = Path(path)
    late: dict[int, list[Problem]] = {}
    with (folder / ROWS).open("w", encoding="utf-8") as target:
        rows = RowsWriter(target, max_rows)
        try:
            if kind == "xlsx":
                # Half of what a start costs, for the other kinds as well.
                from stores.batches.files.workbooks import read_workbook  # noqa: PLC0415

                dialect = read_workbook(source, rows, late)
            elif kind == "json":
                dialect = read_json(source, content_type, rows)
            else:
                dialect = read_csv(source, content_type, rows)
            rows.check_rows()
        except RowFileRefused as refusal:
            return {"refused": asdict(refusal.problem)}
    return {
        "file": ROWS,
        "columns": rows.columns,
        "problems": [asdict(problem) for problem in rows.problems],
        "late": late,
        "dialect": dialect,
    }
