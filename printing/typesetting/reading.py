"""Reads the JSON of a template, and names the path of every mistake in it."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from printing.typesetting.errors import InputProblem, pointer
from printing.typesetting.template import CMYK, RGB

SPOT_LETTERS = 60
_SPOT = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]*\Z")
# Colors of these names have their own plate, or none.
NO_SPOTS = frozenset({"all", "none", "cyan", "magenta", "yellow", "black"})
_HEX = frozenset("0123456789abcdefABCDEF")


class ObjectReader:
    """Reads one JSON object key by key and collects every problem with its path.

    By hand, because pydantic cannot report problems across boxes at their path, and this package imports no Django.
    """

    def __init__(self, value: object, path: tuple[str | int, ...], problems: list[InputProblem]) -> None:
        self.path = path
        self.problems = problems
        self.valid = isinstance(value, dict)
        self.value: Mapping[str, Any] = value if isinstance(value, dict) else {}
        self.read_keys: set[str] = set()
        if not self.valid:
            self.note("wrong_type", "An object is expected here.")

    def note(self, code: str, message: str, *steps: str | int) -> None:
        self.problems.append(InputProblem(pointer(*self.path, *steps), code, message))

    def inner(self, value: object, *steps: str | int) -> "ObjectReader":
        return ObjectReader(value, (*self.path, *steps), self.problems)

    def raw(self, key: str) -> object:
        self.read_keys.add(key)
        return self.value.get(key)

    def refuse_unknown(self) -> None:
        for key in self.value:
            if key not in self.read_keys:
                allowed = ", ".join(sorted(self.read_keys))
                self.note("unknown_key", f"{key} is not allowed here; allowed: {allowed}.", key)

    def number(self, key: str, limits: tuple[float, float], default: float | None = None) -> float:
        value = self.raw(key)
        low, high = limits
        if value is None and (default is not None or not self.valid):
            return low if default is None else default
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            code = "required" if value is None else "out_of_range"
            self.note(code, f"{key} must be a number from {low:g} to {high:g}.", key)
            return low
        return float(value)

    def choice(self, key: str, allowed: Collection[str], default: str | None = None) -> str:
        value = self.raw(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or value not in allowed:
            if self.valid:
                code = "required" if value is None else "not_allowed"
                self.note(code, f"{key} must be one of {', '.join(sorted(allowed))}.", key)
            return default or next(iter(allowed), "")
        return value

    def flag(self, key: str) -> bool:
        value = self.raw(key)
        if value is not None and not isinstance(value, bool):
            self.note("wrong_type", f"{key} must be true or false.", key)
        return value is True

    def text(self, key: str, longest: int) -> str | None:
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, str) or not 0 < len(value) <= longest:
            self.note("wrong_type", f"{key} must be text of 1 to {longest} characters.", key)
            return None
        if any(ord(letter) < 32 and letter != "\n" for letter in value):
            self.note("control_character", f"{key} may not contain control characters.", key)
            return None
        return value

    def color(self, key: str, default: RGB | CMYK | None) -> RGB | CMYK | None:
        value = self.raw(key)
        if value is None:
            return default
        if isinstance(value, str) and len(value) == 7 and value[0] == "#" and _HEX.issuperset(value[1:]):
            return RGB(value.lower())
        if isinstance(value, dict):
            ink = self.inner(value, key)
            cyan, magenta, yellow, black = (ink.number(letter, (0, 100), 0.0) for letter in "CMYK")
            spot = ink.text("Spot", SPOT_LETTERS) or ""
            if spot and (not _SPOT.match(spot) or spot.lower() in NO_SPOTS):
                message = (
                    "Spot is the name of an ink: letters, digits, spaces and - _ . +, and no process color."
                )
                ink.note("not_a_spot", message, "Spot")
            ink.refuse_unknown()
            return CMYK(cyan, magenta, yellow, black, spot)
        self.note("not_a_color", f'{key} must be "#rrggbb" or an object of C, M, Y, K in percent.', key)
        return default

    def items(self, key: str, longest: int, *, required: bool = False) -> Iterable["ObjectReader"]:
        value = self.raw(key)
        if value is None and not required:
            return []
        if not isinstance(value, list) or len(value) > longest or (required and not value):
            if self.valid:
                least = "1" if required else "0"
                self.note("wrong_type", f"{key} must be a list of {least} to {longest} objects.", key)
            return []
        return [self.inner(item, key, index) for index, item in enumerate(value)]
