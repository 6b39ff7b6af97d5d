"""Finds the columns of a file by their usual names, and reads cells.

Each reader of a cell returns a problem code as well, empty for none, and is cached, because cells repeat.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from delivery.datasets.details import Details, RawDetails
from delivery.datasets.problems import BadRouteFile
from fulfillment.core.text import parse_number

POSTAL_CODE = re.compile(r"([0-9]{5})(?:-?[0-9]{4})?")
SHORT_POSTAL_CODE = re.compile(r"[0-9]{3,4}")
ROUTE = re.compile(r"([0-9]{5})?[- ]?([BCGHR])([0-9]{3})")
SHORT_ROUTE = re.compile(r"([0-9]{5})?[- ]?([BCGHR])([0-9]{1,2})")
WITH_COMMAS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+")
WITH_FRACTION = re.compile(r"([0-9]+)\.0+")
NOTHING = {"-", "\N{EN DASH}", "\N{EM DASH}"}
MAX_COUNT = 99_999
# Complete names only, without case and punctuation.
ALIASES = {
    "zip": "zip zip5 zipcode postal postalcode",
    "route": "crid cridid cr crrt route routeid rteid carrierroute carrierrouteid zipcrid",
    "residential": "res rescnt rescount residential residentialcount residentialcnt households",
    "business": "bus buscnt buscount business businesscount businesscnt",
    "total": "tot totcnt totcount total totalcount deliveries",
}
# Optional columns.
DETAIL_ALIASES = {
    "geometry": "geometry geom thegeom shape wkt",
    "income": "medincome medianincome income",
    "age": "medage medianage",
    "household": "avghhsiz avghouseholdsize averagehouseholdsize householdsize size",
    "facility": "facilityname facname facility postoffice",
}
EVERY_ALIAS = ALIASES | DETAIL_ALIASES
FIELD_OF = {alias: name for name, aliases in EVERY_ALIAS.items() for alias in aliases.split()}


@lru_cache(maxsize=65_536)
def read_postal_code(cell: str) -> tuple[str, str]:
    text = _strip_cell(cell)
    code = ""
    if "O" in text or "o" in text:
        text, code = text.replace("O", "0").replace("o", "0"), "W_LETTER_O"
    if match := POSTAL_CODE.fullmatch(text):
        return (match[1], code) if match[1] != "00000" else ("", "E_ZIP")
    if SHORT_POSTAL_CODE.fullmatch(text) and text.strip("0"):
        return text.zfill(5), "W_ZERO_LOST"
    return "", "E_ZIP"


@lru_cache(maxsize=65_536)
def read_route(cell: str) -> tuple[str, str, str]:
    """(route, its postal code where the cell has one, problem)"""
    text = _strip_cell(cell).upper()
    code = ""
    if "O" in text:
        text, code = text.replace("O", "0"), "W_LETTER_O"
    match = ROUTE.fullmatch(text)
    if match is None and (match := SHORT_ROUTE.fullmatch(text)):
        code = "W_SHORT"
    if match is None:
        return "", "", "E_ROUTE"
    return match[2] + match[3].zfill(3), match[1] or "", code


@lru_cache(maxsize=65_536)
def read_count(cell: str) -> tuple[int | None, str]:
    """The count; None for an empty cell, which is a problem only where no total can replace it."""
    text = _strip_cell(cell)
    code = ""
    if not text:
        return None, ""
    if text in NOTHING:
        return 0, ""
    if WITH_COMMAS.fullmatch(text):
        text, code = text.replace(",", ""), "W_COMMA"
    count = parse_number(text, most=MAX_COUNT)
    return (None, "E_COUNT") if count is None else (count, code)


def _strip_cell(cell: str) -> str:
    """The cell without spaces, without ="…" and ' of spreadsheets, and without .0 of floats."""
    text = cell.strip().lstrip("='\"").rstrip("\"'").strip()
    match = WITH_FRACTION.fullmatch(text)
    return match[1] if match else text


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


Columns = dict[str, int]


def find_columns(header: Sequence[str], choices: Mapping[str, str]) -> Columns:
    """The position of each field; `choices` names columns (or their numbers from 1) and wins over the aliases."""
    plain = [plain_name(cell) for cell in header]
    positions: Columns = {}
    for position, name in enumerate(plain):
        # Separate columns take precedence over ZIP+route in one column.
        field = FIELD_OF.get(name, "")
        if field and (field not in positions or plain[positions[field]] == "zipcrid"):
            positions[field] = position
    for field, name in choices.items():
        positions[field] = _find_position(plain, name)
    return positions


def is_complete(columns: Mapping[str, int]) -> bool:
    counts = len({"residential", "business", "total"} & columns.keys())
    return "route" in columns and counts >= 2


def read_choices(texts: Sequence[str]) -> dict[str, str]:
    """`zip=Postcode,residential=Homes` as a mapping of our fields to the file's columns."""
    choices = {}
    for pair in ",".join(texts).split(","):
        if not pair.strip():
            continue
        name, separator, column = pair.partition("=")
        field = FIELD_OF.get(plain_name(name))
        if not separator or field is None or not column.strip():
            raise BadRouteFile(
                f"--map {pair.strip()!r} is not understood; write field=column with one of the fields "
                + ", ".join(EVERY_ALIAS)
                + "."
            )
        choices[field] = column.strip()
    return choices


def plain_name(cell: str) -> str:
    return re.sub(r"[^a-z0-9]", "", cell.lower())


def _find_position(plain: Sequence[str], name: str) -> int:
    if plain_name(name) in plain:
        return plain.index(plain_name(name))
    if number := parse_number(name, most=len(plain)):
        return number - 1
    raise BadRouteFile(f"There is no column {name!r}; the file has: {', '.join(plain)}.")
