"""Declarations of adapter settings, used to build forms and to validate values.

By hand: Django's form fields validate a submitted form only, and adapters are used without forms as well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

Kind = Literal["text", "long_text", "integer", "decimal", "boolean", "choice"]
LONGEST_TEXT = 500
LONGEST_LONG_TEXT = 20_000
TRUE_WORDS = frozenset({"true", "on", "yes", "1"})
FALSE_WORDS = frozenset({"false", "off", "no", "0", ""})


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting. `secret` ones are kept encrypted and never shown again.

    `choices` holds (value, label) of the kind `choice`. `check` gets the clean value and returns what is wrong;
    `check_saved` does the same only when a person saves it, for it may look up names.
    """

    name: str
    label: str
    kind: Kind = "text"
    required: bool = True
    secret: bool = False
    help: str = ""
    default: Any = None
    choices: Sequence[tuple[str, str]] = ()
    check: Callable[[Any], str | None] | None = None
    check_saved: Callable[[Any], str | None] | None = None


def check_settings(fields: Sequence[SettingField], mapping: Mapping[str, Any]) -> dict[str, str]:
    """The errors by field name; unknown names are errors as well."""
    return _read(fields, mapping)[1]


def clean_settings(fields: Sequence[SettingField], mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Typed values of all fields, with defaults; raises ValueError with the first error."""
    values, errors = _read(fields, mapping)
    for name, message in errors.items():
        raise ValueError(f"{name}: {message}")
    return values


def _read(
    fields: Sequence[SettingField], mapping: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    values: dict[str, Any] = {}
    errors = {name: "Unknown setting." for name in mapping if name not in {field.name for field in fields}}
    for field in fields:
        try:
            values[field.name] = _value(field, mapping.get(field.name))
        except ValueError as error:
            errors[field.name] = str(error)
    return values, errors


def _value(field: SettingField, raw: Any) -> Any:
    if raw is None or (isinstance(raw, str) and not raw.strip() and field.kind != "boolean"):
        if field.default is not None:
            return field.default
        if field.required:
            raise ValueError("This setting is required.")
        return False if field.kind == "boolean" else None if field.kind in {"integer", "decimal"} else ""
    value = READERS[field.kind](field, raw)
    if field.check and (mistake := field.check(value)):
        raise ValueError(mistake)
    return value


def _text(field: SettingField, raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueError("Enter text.")
    text = raw.strip()
    limit = LONGEST_LONG_TEXT if field.kind == "long_text" else LONGEST_TEXT
    if len(text) > limit:
        raise ValueError(f"At most {limit:,} characters are allowed.")
    allowed = "\n\r\t" if field.kind == "long_text" else ""
    if any(ord(letter) < 32 and letter not in allowed for letter in text):
        raise ValueError("Control characters are not allowed.")
    return text


def _integer(field: SettingField, raw: Any) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    text = raw.strip() if isinstance(raw, str) else ""
    if not text.removeprefix("-").isdecimal() or len(text) > 15:
        raise ValueError("Enter a whole number.")
    return int(text)


def _decimal(field: SettingField, raw: Any) -> float:
    try:
        number = Decimal(str(raw)) if not isinstance(raw, bool) else Decimal("NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or abs(number) > 10**12:
        raise ValueError("Enter a number, such as 2.5.")
    return float(number)


def _boolean(field: SettingField, raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    word = raw.strip().lower() if isinstance(raw, str) else None
    if word not in TRUE_WORDS | FALSE_WORDS:
        raise ValueError("Choose yes or no.")
    return word in TRUE_WORDS


def _choice(field: SettingField, raw: Any) -> str:
    allowed = [value for value, _ in field.choices]
    if raw not in allowed:
        raise ValueError(f"Choose one of: {', '.join(allowed)}.")
    return str(raw)


READERS: dict[Kind, Callable[[SettingField, Any], Any]] = {
    "text": _text,
    "long_text": _text,
    "integer": _integer,
    "decimal": _decimal,
    "boolean": _boolean,
    "choice": _choice,
}


def between(least: float, most: float) -> Callable[[Any], str | None]:
    """A check for a range of numbers."""
    return lambda value: None if least <= value <= most else f"It must lie between {least:g} and {most:g}."
