"""Errors of files: those that refuse the whole file, and problems of single lines."""

from collections import Counter
from dataclasses import dataclass, field
from typing import IO

from fulfillment.core.csv_rows import write_csv_row
from fulfillment.core.errors import Invalid

MAX_LISTED = 1000
# A file of a few MB can unpack to a billion invalid lines.
WRITTEN = 1_000_000
SHOWN = 80

# E_ codes reject the line; W_ codes accept it, possibly repaired.
REMEDIES = {
    "E_SHAPE": "The line has fewer cells than the header; check its delimiters and quotes.",
    "E_ZIP": "Write 5 digits, or ZIP+4.",
    "E_ROUTE": "Write one of the letters C, R, H, B, G and 3 digits, for example C001.",
    "E_COUNT": "Write a whole number from 0 to 99999.",
    "E_EMPTY": "Fill in the count; write 0 where there is none.",
    "E_DUP_DIFF": "The route occurs twice with other counts; the first was kept. Remove the wrong line.",
    "W_DUP_SAME": "The route occurs twice with the same counts; it was taken once.",
    "W_ZERO_LOST": "Leading zeros were put back; format the column as text before saving.",
    "W_LETTER_O": "The letter O was read as the digit 0.",
    "W_SHORT": "The route number was filled up to 3 digits.",
    "W_COMMA": "Thousands commas were removed.",
    "W_TOTAL": "The total is not residential + business; it was ignored.",
    "W_DERIVED": "The missing count was taken from the total.",
    "W_PHANTOM": "Route R777 has no deliveries and was left out.",
    "W_GEOMETRY": "The shape of the route was left out; write WKT of at most 2,000 corners in degrees (WGS 84).",
    "W_DETAIL": "An impossible median or household size was omitted.",
    "W_FOOTER": "A line of totals was skipped.",
}
PROBLEM_HEADER = "line,column,value,code,remedy\n"


class BadRouteFile(Invalid):
    """The file cannot be read at all."""

    code = "file_refused"
    title = "File refused"


@dataclass
class ProblemLog:
    """Counts every problem, keeps the first 1,000 and writes the first million to `file` as CSV."""

    file: IO[str] | None = None
    columns: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    listed: list[tuple[int, str, str, str]] = field(default_factory=list)
    rejects: int = 0

    def add(self, line: int, column: str, value: str, code: str) -> None:
        self.counts[code] += 1
        self.rejects += code[0] == "E"
        problem = (line, _printable(self.columns.get(column, column)), _printable(value), code)
        if len(self.listed) < MAX_LISTED:
            self.listed.append(problem)
        if self.file is not None and self.counts.total() <= WRITTEN:
            write_csv_row(self.file, [*problem, REMEDIES[code]])

    @property
    def warnings(self) -> int:
        return self.counts.total() - self.rejects


def _printable(value: str) -> str:
    cut = value if len(value) <= SHOWN else value[: SHOWN - 1] + "…"
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in cut)
