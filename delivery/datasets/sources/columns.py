"""Finds the needed columns by their usual names."""

import re
from collections.abc import Mapping, Sequence

from delivery.datasets.sources.problems import FileRefused

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

Columns = dict[str, int]


def find_columns(header: Sequence[str], chosen: Mapping[str, str]) -> Columns:
    """The position of each field; `chosen` names columns (or their numbers from 1) and wins over the aliases."""
    plain = [plain_name(cell) for cell in header]
    found: Columns = {}
    for position, name in enumerate(plain):
        # Separate columns take precedence over ZIP+route in one column.
        field = FIELD_OF.get(name, "")
        if field and (field not in found or plain[found[field]] == "zipcrid"):
            found[field] = position
    for field, name in chosen.items():
        found[field] = _position(plain, name)
    return found


def is_complete(columns: Mapping[str, int]) -> bool:
    counts = len({"residential", "business", "total"} & columns.keys())
    return "route" in columns and counts >= 2


def read_choices(texts: Sequence[str]) -> dict[str, str]:
    """`zip=Postcode,residential=Homes` as a mapping of our fields to the file's columns."""
    chosen = {}
    for pair in ",".join(texts).split(","):
        if not pair.strip():
            continue
        name, separator, column = pair.partition("=")
        field = FIELD_OF.get(plain_name(name))
        if not separator or field is None or not column.strip():
            raise FileRefused(
                f"--map {pair.strip()!r} is not understood; write field=column with one of the fields "
                + ", ".join(EVERY_ALIAS)
                + "."
            )
        chosen[field] = column.strip()
    return chosen


def plain_name(cell: str) -> str:
    return re.sub(r"[^a-z0-9]", "", cell.lower())


def _position(plain: Sequence[str], name: str) -> int:
    if plain_name(name) in plain:
        return plain.index(plain_name(name))
    if name.isascii() and name.isdigit() and 1 <= int(name) <= len(plain):
        return int(name) - 1
    raise FileRefused(f"There is no column {name!r}; the file has: {', '.join(plain)}.")
