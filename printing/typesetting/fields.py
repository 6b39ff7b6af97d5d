"""Refuses text that no box can hold before it is measured, because measuring long text is slow."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from printing.text import did_you_mean, is_blank
from printing.typesetting.errors import InputProblem, ValuesInvalid, pointer
from printing.typesetting.template import Box

TYPES = {
    "Text": ("SingleLine", "MultiLine", "Email", "Phone", "Url", "Date"),
    "Image": ("Upload", "Gallery"),
    "Choice": ("List",),
}
ALL_VALUES_BYTES = 200_000
# To read an address normalizes its host, in quadratic time: 45,000 marks stopped all threads for five seconds.
MAX_URL_LENGTH = 2_000

# Dots and hyphens only inside of a label; a domain has at least two labels. Nothing else is checked.
_EMAIL = re.compile(
    r"[^\s@<>\"(),:;\\\[\]]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_][\w-]{0,61}[^\W_]"
)
_PHONE = re.compile(r"\+?[0-9(][0-9 ().\-/\u2010\u2011\u00a0]{4,28}(?: ?(?:x|ext\.?) ?[0-9]{1,6})?")
_HOST = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_][\w-]{0,61}[^\W_]")
# Characters without a width take time as well.
CHARACTERS = 20_000
# Far more than any script needs; sorting them takes quadratic time.
MARKS_IN_A_ROW = 100
# In em; less than the width of any letter, even within a ligature.
NARROWEST = 0.05
SLACK = 0.05
POINTS_OF_MM = 72 / 25.4
# Their code points are letters, but nothing is drawn.
FILLERS = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0")


@dataclass(frozen=True, slots=True)
class Field:
    """A template field as the contract names it; `choices` is the list of a Choice field."""

    field_name: str
    prompt: str = ""
    type: str = "Text"
    sub_type: str = "SingleLine"
    required: bool = False
    default_value: str = ""
    org_value: str = ""
    choices: tuple[str, ...] = ()


def resolve_values(
    fields: Sequence[Field],
    sent_values: Mapping[str, object],
    gallery: Sequence[str] | Mapping[str, object] = (),
) -> dict[str, str]:
    """Give every field its value: what was sent, else OrgValue, else DefaultValue, else "".

    `gallery` names the product's pictures. Raises ValuesInvalid with the problems of all fields.
    A field sent empty counts as sent. Text is returned with line ends as \\n, otherwise unchanged.
    """
    by_name = {field.field_name: field for field in fields}
    unknown = [name for name in sent_values if name not in by_name]
    if _count_bytes(unknown) + _count_bytes(sent_values.values()) > ALL_VALUES_BYTES:
        message = f"All values together have at most {ALL_VALUES_BYTES:,} bytes."
        raise ValuesInvalid([InputProblem("", "too_large", message)])
    problems = _unknown_names(unknown, list(by_name)) if unknown else []
    values: dict[str, str] = {}
    for field in fields:
        value = sent_values.get(field.field_name)
        if value is None:
            value = field.org_value or field.default_value
        fault = _find_fault(field, value, gallery)
        if fault:
            problems.append(InputProblem(pointer(field.field_name), *fault))
        elif isinstance(value, str):
            values[field.field_name] = value.replace("\r\n", "\n").replace("\r", "\n")
    if problems:
        raise ValuesInvalid(problems)
    return values


def _unknown_names(names: Sequence[str], allowed: Sequence[str]) -> list[InputProblem]:
    allowed_text = f" Allowed: {', '.join(allowed)}." if allowed else " It has none."
    near = did_you_mean(names, allowed)
    return [
        InputProblem(
            pointer(name),
            "unknown_field",
            f"{name[:64]} is not a field of this product.{allowed_text if name in near else ''}{near.get(name, '')}",
        )
        for name in names
    ]


def _count_bytes(values: Iterable[object]) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in values if isinstance(text, str))


def _find_fault(
    field: Field, value: object, gallery: Sequence[str] | Mapping[str, object]
) -> tuple[str, str] | None:
    name = field.field_name
    if not isinstance(value, str):
        return "wrong_type", f"{name} must be a string."
    if is_blank(value):
        return ("required", f"{name} is required.") if field.required else _find_unprintable(name, value)
    if fault := _find_unprintable(name, value):
        return fault
    if field.type == "Choice" and value not in field.choices:
        return "not_a_choice", f"{name} must be one of {', '.join(field.choices)}."
    if field.type == "Image" and field.sub_type == "Gallery" and value not in gallery:
        return (
            "unknown_picture",
            f"{name} must be one of {', '.join(gallery) or 'no pictures: the gallery is empty'}.",
        )
    if field.type != "Text":
        return None
    if field.sub_type != "MultiLine" and ("\n" in value or "\r" in value):
        return "line_break", f"{name} is a single line; a line break is not allowed."
    check, expected = _CHECKS.get(field.sub_type, (None, ""))
    return (
        None
        if check is None or check(value.strip())
        else (f"not_a_{field.sub_type.lower()}", f"{name} {expected}")
    )


def _find_unprintable(name: str, value: str) -> tuple[str, str] | None:
    # Python counts these as unprintable, and others that are no fault.
    if value.isprintable():
        return None
    for letter in value:
        if letter in "\n\r":
            continue
        # Line and paragraph separators are invisible line breaks; surrogates cannot be encoded.
        if unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"}:
            return "control_character", f"{name} contains the control character U+{ord(letter):04X}."
    return None


def _is_url(value: str) -> bool:
    if len(value) > MAX_URL_LENGTH:
        return False
    try:
        parts = urlsplit(value if "//" in value else "//" + value)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        return False
    host = parts.hostname or ""
    plain = parts.scheme in {"", "http", "https"} and " " not in value and "@" not in parts.netloc
    return plain and port_is_fine and len(host) < 254 and bool(_HOST.fullmatch(host))


def _is_date(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


_CHECKS: dict[str, tuple[Callable[[str], object], str]] = {
    "Email": (
        lambda value: len(value) < 255 and _EMAIL.fullmatch(value),
        "is not an address such as dana@example.com.",
    ),
    "Phone": (_PHONE.fullmatch, "must be a phone number: digits, spaces and + ( ) - . / only."),
    "Url": (_is_url, "must be a web address such as example.com or https://example.com/page."),
    "Date": (_is_date, "must be a date as YYYY-MM-DD."),
}


def overflow_reason(box: Box, content: str) -> str | None:
    """Why the text cannot fit this box at any size, or None. A box with Fit "clip" cuts off the rest."""
    if len(content) > CHARACTERS:
        return f"has more than {CHARACTERS:,} characters"
    if _most_marks(content) > MARKS_IN_A_ROW:
        return f"has more than {MARKS_IN_A_ROW} marks on one letter"
    if box.fit != "clip" and not _may_fit(box, [_count_letters(line) for line in content.split("\n")]):
        return "does not fit its box, even at the smallest size"
    return None


def _may_fit(box: Box, lines: list[int]) -> bool:
    """An estimate from the number of letters in each line alone."""
    narrowest = max(NARROWEST + min(box.tracking, 0), 0) * box.minimum_size
    width = box.width * POINTS_OF_MM + SLACK
    capacity = (box.height * POINTS_OF_MM + SLACK) / (box.minimum_size * box.line_spacing) + 1
    # Overlapping lines may take less height than a line each.
    if box.line_spacing >= 1 and sum(1 for count in lines if count) > capacity:
        return False
    if box.fit == "shrink":
        return max(lines) * narrowest <= width
    return box.line_spacing < 1 or sum(lines) * narrowest <= capacity * width


def _count_letters(line: str) -> int:
    """The number of those with a width."""
    categories = (unicodedata.category(letter) for letter in line if letter not in FILLERS)
    return sum(1 for category in categories if category[0] not in "CMZ" and category != "Sk")


def _most_marks(content: str) -> int:
    longest = run = 0
    for letter in content:
        run = run + 1 if unicodedata.category(letter)[0] == "M" else 0
        longest = max(longest, run)
    return longest
