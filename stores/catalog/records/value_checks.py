"""Checks of single values in a catalog record: each returns the stored form or raises ValueRefused.

By hand: pydantic would hold the whole file in memory, and msgspec stops at the first fault.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any
from zoneinfo import available_timezones

import orjson

from fulfillment.core.text import MAX_INTEGER

MAX_TEMPLATE_NUMBER = 10**15

Check = Callable[[Any], Any]


class ValueRefused(Exception):
    def __init__(self, code: str, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.pointer = pointer


def text(maximum: int, *, blank: bool = True) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueRefused("not_a_string", f"write a string; found {brief_json(value)}.")
        if len(value) > maximum:
            raise ValueRefused("too_long", f"at most {maximum} characters; found {len(value)}.")
        if "\0" in value:
            raise ValueRefused("nul_character", "NUL characters cannot be stored.")
        if not blank and not value.strip():
            raise ValueRefused("blank", "this must not be empty.")
        return value

    return check


def matching(form: str, meaning: str) -> Check:
    pattern = re.compile(form)

    def check(value: Any) -> str:
        if not isinstance(value, str) or not pattern.match(value):
            raise ValueRefused("malformed", f"{meaning}; found {brief_json(value)}.")
        return value

    return check


def optional(inner: Check) -> Check:
    """Null as well as what `inner` allows."""
    return lambda value: None if value is None else inner(value)


def one_of(names: Sequence[str]) -> Check:
    allowed = frozenset(names)

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise ValueRefused(
                "unknown_value", f"write one of {', '.join(names)}; found {brief_json(value)}."
            )
        return value

    return check


def whole(minimum: int, maximum: int = MAX_INTEGER) -> Check:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise ValueRefused(
                "not_a_whole_number",
                f"write a whole number from {minimum} to {maximum}; found {brief_json(value)}.",
            )
        return value

    return check


def positive(digits: int, places: int, *, or_zero: bool = False) -> Check:
    """A number above 0, or from 0 on, that the column can store without rounding."""
    step = Decimal(1).scaleb(-places)
    limit = Decimal(10) ** (digits - places)
    allowed = "from 0 on" if or_zero else "above 0"

    def check(value: Any) -> Decimal:
        number = Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if (
            isinstance(number, Decimal)
            and number.is_finite()
            and (0 < number < limit or (or_zero and number == 0))
        ):
            exact = number.quantize(step)
            if exact == number:
                return exact
        raise ValueRefused(
            "not_a_price" if places == 2 else "not_a_size",
            f"write a number {allowed} and below {limit} with at most {places} decimals; found {brief_json(value)}.",
        )

    return check


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueRefused("not_a_flag", f"write true or false; found {brief_json(value)}.")
    return value


def moment(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        parsed = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueRefused(
            "not_a_timestamp", f"write an ISO 8601 date and time; found {brief_json(value)}."
        ) from error


def distinct(check: Check, maximum: int) -> Check:
    def check_all(values: Any) -> list[Any]:
        if not isinstance(values, list | tuple):
            raise ValueRefused("not_an_array", f"write an array; found {brief_json(values)}.")
        if len(values) > maximum:
            raise ValueRefused("too_many", f"at most {maximum} entries; found {len(values)}.")
        checked: list[Any] = []
        for index, value in enumerate(values):
            try:
                entry = check(value)
            except ValueRefused as refusal:
                raise ValueRefused(refusal.code, refusal.message, f"/{index}") from refusal
            if entry in checked:
                raise ValueRefused("repeated", f"{brief_json(value)} appears twice.", f"/{index}")
            checked.append(entry)
        return checked

    return check_all


def time_zone(value: Any) -> str:
    if not isinstance(value, str) or value not in _time_zones():
        raise ValueRefused(
            "unknown_time_zone", f"write a time zone such as America/Denver; found {brief_json(value)}."
        )
    return value


def template(value: Any) -> dict[str, Any] | None:
    """Checks only that it can be stored without loss; stores.templates.services checks the layout."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueRefused("not_an_object", f"write a JSON object; found {brief_json(value)}.")
    try:
        plain = _plain(value)
        orjson.dumps(plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueRefused("template_not_storable", f"the template cannot be stored: {error}.") from error
    return plain


def brief_json(value: Any) -> str:
    """The value as JSON, cut to at most 60 characters for a message."""
    try:
        shown = orjson.dumps(value, default=str).decode()
    except (TypeError, ValueError):
        shown = str(value)
    if isinstance(value, Decimal):
        shown = str(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, str) and "\0" in value:
        raise ValueError("it contains a NUL character")
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        # jsonb writes larger numbers out in full, and Python would read them back as other numbers.
        if not -MAX_TEMPLATE_NUMBER < value < MAX_TEMPLATE_NUMBER:
            raise ValueError(f"{value} is out of range")
        return float(value) if isinstance(value, Decimal) else value
    return value


@cache
def _time_zones() -> set[str]:
    return available_timezones()
