"""Finds ZIP codes whose leading zeros a spreadsheet dropped."""

import re
from collections.abc import Iterator, Sequence

from stores.batches.files.names import compact, member_names
from stores.batches.files.records import VALUE_SHOWN, WARNING, FileProblem

_WITHOUT_ZEROS = re.compile(r"(\d{3,4})(-\d{4})?")
# Places with ZIP codes; many other countries have codes of four digits.
_ZIP_COUNTRIES = frozenset(
    {"", "us", "usa", "unitedstates", "unitedstatesofamerica", "pr", "puertorico", "vi", "usvirginislands"}
)
_CODES, _COUNTRIES = member_names("PostalCode"), member_names("CountryCode")


class PostalCodes:
    def __init__(self, columns: Sequence[str]) -> None:
        names = [compact(column) for column in columns]
        self.columns = columns
        self.places = [place for place, name in enumerate(names) if name in _CODES]
        self.country = next((place for place, name in enumerate(names) if name in _COUNTRIES), None)

    def problems(self, row: int, cells: Sequence[str]) -> Iterator[FileProblem]:
        """A warning, and no padding: `2138` may be a code of Switzerland as well as one of Massachusetts."""
        for place in self.places:
            code = cells[place] if place < len(cells) else ""
            match = _WITHOUT_ZEROS.fullmatch(code)
            if match and self._country(cells) in _ZIP_COUNTRIES:
                padded = code.zfill(5 + len(match[2] or ""))
                yield FileProblem(
                    "zip_zeros_lost",
                    f"A ZIP code has five digits; this one has {len(match[1])}.",
                    f"If it is {padded}, set the column's format to text and type it again. "
                    "If it is of another country, add a column with the country.",
                    row,
                    self.columns[place],
                    code[:VALUE_SHOWN],
                    WARNING,
                )

    def _country(self, cells: Sequence[str]) -> str:
        return compact(cells[self.country]) if self.country is not None and self.country < len(cells) else ""
