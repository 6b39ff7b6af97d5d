"""Readers of single cells: each returns the value and a problem code ('' = none). Cached, as files repeat cells."""

import re
from functools import lru_cache

POSTAL_CODE = re.compile(r"([0-9]{5})(?:-?[0-9]{4})?")
SHORT_POSTAL_CODE = re.compile(r"[0-9]{3,4}")
ROUTE = re.compile(r"([0-9]{5})?[- ]?([BCGHR])([0-9]{3})")
SHORT_ROUTE = re.compile(r"([0-9]{5})?[- ]?([BCGHR])([0-9]{1,2})")
WITH_COMMAS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+")
WITH_FRACTION = re.compile(r"([0-9]+)\.0+")
NOTHING = {"-", "\N{EN DASH}", "\N{EM DASH}"}
MAXIMUM_COUNT = 99_999


@lru_cache(maxsize=65_536)
def read_postal_code(cell: str) -> tuple[str, str]:
    text = _bare(cell)
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
    text = _bare(cell).upper()
    code = ""
    if "O" in text:
        text, code = text.replace("O", "0"), "W_LETTER_O"
    match = ROUTE.fullmatch(text)
    if match is None and (match := SHORT_ROUTE.fullmatch(text)):
        code = "W_ROUTE_SHORT"
    if match is None:
        return "", "", "E_ROUTE"
    return match[2] + match[3].zfill(3), match[1] or "", code


@lru_cache(maxsize=65_536)
def read_count(cell: str) -> tuple[int | None, str]:
    """None for an empty cell, which is a problem only where no total can replace it."""
    text = _bare(cell)
    code = ""
    if not text:
        return None, ""
    if text in NOTHING:
        return 0, ""
    if WITH_COMMAS.fullmatch(text):
        text, code = text.replace(",", ""), "W_COMMA"
    if not (text.isascii() and text.isdigit()) or int(text[:9]) > MAXIMUM_COUNT:
        return None, "E_COUNT"
    return int(text), code


def _bare(cell: str) -> str:
    """The cell without spaces, without ="…" and ' of spreadsheets, and without .0 of floats."""
    text = cell.strip().lstrip("='\"").rstrip("\"'").strip()
    match = WITH_FRACTION.fullmatch(text)
    return match[1] if match else text
