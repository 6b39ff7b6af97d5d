"""Shows a number of a workbook as its cell shows it: by the number format of Excel and LibreOffice."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

# Formats with these numbers follow the language of the reader: they are shown as ISO.
LOCAL_DATES = frozenset({14, *range(27, 37), *range(50, 59)})
LOCAL_DATE_TIMES = frozenset({22})
ISO_DATE, ISO_DATE_TIME = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
_PIECE = re.compile(
    r"\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)|(?P<skipped>[_*].)|\[(?P<bracket>[^\]]*)\]"
    r"|(?P<half>AM/PM|A/P)|(?P<general>General)|(?P<exponent>E[+-])|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?)"
    r"|(?P<digit>[0#?])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[]|["\\\[])*)(?:;|$)')
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?(?:\d+\.?\d*|\.\d+))", re.ASCII)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
# In English, in every locale of this process.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001 (cells have no zone)
# Enough for the largest float with all decimals that a format can have.
_EXACT = Context(prec=600)
MAX_FORMAT_LENGTH = 255
# Pieces of one section; an IBAN has 29. Each costs a microsecond a cell, and a small file may have a million cells.
MAX_PIECES = 40
# 31 December 9999.
_LAST_DAY = 2_958_466
# A spreadsheet keeps fifteen digits.
PRECISION = 15


@dataclass(frozen=True)
class FormatPiece:
    kind: str
    text: str


_COMMA, _POINT = FormatPiece("other", ","), FormatPiece("other", ".")


@dataclass(frozen=True)
class Section:
    pieces: tuple[FormatPiece, ...]
    condition: tuple[str, float] | None

    @property
    def is_date(self) -> bool:
        return any(piece.kind in {"date", "elapsed"} for piece in self.pieces)


@lru_cache(maxsize=4096)
def format_number(number: float, code: str, *, is_1904: bool = False) -> str | None:
    """The text of the cell; None for a date that there is not."""
    sections = _split_sections(code if len(code) <= MAX_FORMAT_LENGTH else "General")
    section, is_absolute = _section_for(number, sections)
    if section.is_date:
        return _format_date(number, section.pieces, is_1904=is_1904)
    if any(piece.kind == "general" for piece in section.pieces) or not section.pieces:
        return _around_general(abs(number) if is_absolute else number, section.pieces)
    return _format_plain(abs(number) if is_absolute else number, section.pieces)


def general(number: float) -> str:
    if number == int(number) and abs(number) < 10**PRECISION:
        return str(int(number))
    text = f"{number:.{PRECISION}g}"
    return format(Decimal(text), "f") if abs(number) >= 1e-9 else text


@lru_cache(maxsize=256)
def _split_sections(code: str) -> tuple[Section, ...]:
    if re.search(r"\[\$-[0-9a-f]*F800\]", code, re.IGNORECASE):
        code = ISO_DATE
    elif re.search(r"\[\$-[0-9a-f]*F400\]", code, re.IGNORECASE):
        code = "hh:mm:ss"
    parts = [match[1] for match in _SECTION.finditer(code)]
    # The expression matches once more at the end of the text.
    return tuple(
        _parse_section(part) for part in (parts[:-1] if len(parts) > 1 and not parts[-1] else parts)[:4]
    )


def _parse_section(text: str) -> Section:
    pieces: list[FormatPiece] = []
    condition = None
    for match in _PIECE.finditer(text):
        kind, value = str(match.lastgroup), str(match[str(match.lastgroup)])
        if kind == "bracket":
            if comparison := _CONDITION.fullmatch(value):
                condition = (comparison[1], float(comparison[2]))
            elif _ELAPSED.fullmatch(value):
                pieces.append(FormatPiece("elapsed", value.lower()))
            elif value.startswith("$") and (symbol := value[1:].partition("-")[0]):
                pieces.append(FormatPiece("literal", symbol))
        elif kind in {"quoted", "escaped"}:
            pieces.append(FormatPiece("literal", value))
        elif kind == "skipped":
            # `_x` leaves the width of a character, `*x` fills the cell.
            pieces += [FormatPiece("literal", " ")] if value.startswith("_") else []
        elif kind == "date":
            pieces.append(FormatPiece("date", value.lower()))
        else:
            pieces.append(FormatPiece(kind, value))
    return (
        Section(tuple(_with_minutes(pieces)), condition)
        if len(pieces) <= MAX_PIECES
        else _parse_section("General")
    )


def _with_minutes(pieces: list[FormatPiece]) -> list[FormatPiece]:
    """`m` is the minute after hours and before seconds."""
    units = [
        (index, piece.text[0]) for index, piece in enumerate(pieces) if piece.kind in {"date", "elapsed"}
    ]
    for (_, before), (index, unit), (_, after) in zip(
        [(0, ""), *units], units, [*units[1:], (0, "")], strict=False
    ):
        if (
            unit == "m"
            and (before == "h" or after == "s")
            and pieces[index] in {FormatPiece("date", "m"), FormatPiece("date", "mm")}
        ):
            pieces[index] = FormatPiece("minute", pieces[index].text)
    return pieces


def _section_for(number: float, sections: Sequence[Section]) -> tuple[Section, bool]:
    """The section, and whether it shows the number without its sign."""
    if any(section.condition for section in sections):
        for section in sections:
            if not section.condition or _holds(number, *section.condition):
                return section, False
        return sections[-1], False
    if number < 0 and len(sections) > 1:
        return sections[1], True
    if number == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], False


def _holds(number: float, operator: str, limit: float) -> bool:
    return {
        "<": number < limit,
        "<=": number <= limit,
        ">": number > limit,
        ">=": number >= limit,
        "=": number == limit,
        "<>": number != limit,
    }[operator]


def _around_general(number: float, pieces: Sequence[FormatPiece]) -> str:
    if not pieces:
        return general(number)
    return "".join(general(number) if piece.kind == "general" else piece.text for piece in pieces)


def _format_plain(number: float, pieces: Sequence[FormatPiece]) -> str:
    if any(piece.kind == "exponent" for piece in pieces):
        return _format_scientific(number, pieces)
    if not any(piece.kind == "digit" for piece in pieces):
        # `@`, or text in place of the number.
        return "".join(general(number) if piece.text == "@" else piece.text for piece in pieces)
    if any(piece == FormatPiece("other", "/") for piece in pieces):
        return general(number)
    digits = [index for index, piece in enumerate(pieces) if piece.kind == "digit"]
    # Without a point it would stand behind the last digit.
    point = next((index for index, piece in enumerate(pieces) if piece == _POINT), digits[-1] + 1)
    first, end = min(digits[0], point), digits[-1] + 1
    decimals = sum(index > point for index in digits)
    value = Decimal(repr(number)).scaleb(2 * sum(piece == FormatPiece("other", "%") for piece in pieces))
    while end < len(pieces) and pieces[end] == _COMMA:
        value = value.scaleb(-3)
        end += 1
    value = value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, _EXACT)
    # Not `abs`, which rounds to 28 digits.
    whole, _, fraction = format(value.copy_abs(), "f").partition(".")
    has_groups = _COMMA in pieces[first : min(point, digits[-1])]
    text = "".join(
        [
            *(piece.text for piece in pieces[:first]),
            _format_whole(whole, pieces[first:point], has_groups=has_groups),
            _format_fraction(fraction, pieces[point:end]).removesuffix("."),
            *(piece.text for piece in pieces[end:]),
        ]
    )
    return f"-{text}" if value < 0 else text


def _format_whole(digits: str, pieces: Sequence[FormatPiece], *, has_groups: bool) -> str:
    """The digits from the right into their places; the leftmost place takes all that remain."""
    digits = "" if digits == "0" else digits
    if not pieces:
        return digits
    indexes = [index for index, piece in enumerate(pieces) if piece.kind == "digit"]
    parts: list[str] = []
    count = 0
    for index in range(len(pieces) - 1, -1, -1):
        piece = pieces[index]
        if piece.kind != "digit":
            if piece != _COMMA:
                parts.append(piece.text[::-1])
            continue
        take = len(digits) if index == indexes[0] else 1
        group = digits[len(digits) - take :] if take else ""
        digits = digits[: len(digits) - len(group)]
        group = group or {"0": "0", "?": " ", "#": ""}[piece.text]
        for digit in reversed(group):
            parts.append("," if has_groups and count and count % 3 == 0 else "")
            parts.append(digit)
            count += 1
    return "".join(parts)[::-1]


def _format_fraction(digits: str, pieces: Sequence[FormatPiece]) -> str:
    needed = len(digits.rstrip("0"))
    text, index = "", 0
    for piece in pieces:
        if piece.kind != "digit":
            text += "" if piece == _COMMA else piece.text
            continue
        if index < needed or piece.text == "0":
            text += digits[index]
        elif piece.text == "?":
            text += " "
        index += 1
    return text


def _format_scientific(number: float, pieces: Sequence[FormatPiece]) -> str:
    sign = next(index for index, piece in enumerate(pieces) if piece.kind == "exponent")
    point = next((index for index, piece in enumerate(pieces) if piece == _POINT), sign)
    decimals = sum(piece.kind == "digit" for piece in pieces[point:sign])
    width = sum(piece.kind == "digit" for piece in pieces[sign:])
    mantissa, _, exponent = f"{number:.{decimals}E}".partition("E")
    shown_sign = "-" if int(exponent) < 0 else "+" if pieces[sign].text.endswith("+") else ""
    return f"{mantissa}E{shown_sign}{abs(int(exponent)):0{width}d}"


def _format_date(number: float, pieces: Sequence[FormatPiece], *, is_1904: bool) -> str | None:
    if not 0 <= number < _LAST_DAY:
        return None
    parts = next((len(piece.text) - 2 for piece in pieces if piece.kind == "date" and "." in piece.text), 0)
    seconds = Decimal(repr(number)) * 86_400
    rounded = seconds.quantize(Decimal(1).scaleb(-max(parts, 0)), ROUND_HALF_UP, _EXACT)
    # Excel counts a 29 February 1900 that there was not.
    shift = 1 if not is_1904 and number < 60 else 0
    try:
        moment = (_EPOCH_1904 if is_1904 else _EPOCH) + timedelta(days=shift, seconds=float(rounded))
    except OverflowError:
        return None
    has_half = any(piece.kind == "half" for piece in pieces)
    text = []
    for piece in pieces:
        if piece.kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[piece.text[0]]
            text.append(f"{int(rounded // unit):0{len(piece.text)}d}")
        elif piece.kind == "half":
            half = "AM" if moment.hour < 12 else "PM"
            text.append(half if piece.text.upper() == "AM/PM" else half[0])
        elif piece.kind == "date":
            text.append(_date_part(moment, piece.text, has_half=has_half))
        elif piece.kind == "minute":
            text.append(f"{moment.minute:0{len(piece.text)}d}")
        elif piece.text not in {"@", "\\"}:
            text.append(piece.text)
    return "".join(text)


def _date_part(moment: datetime, code: str, *, has_half: bool) -> str:
    width = min(len(code), 2)
    if code[0] == "y":
        return f"{moment.year:04d}" if len(code) > 2 else f"{moment.year % 100:02d}"
    if code[0] == "m":
        return _number_or_name(moment.month, code, _MONTHS[moment.month - 1])
    if code[0] == "d":
        return _number_or_name(moment.day, code, _DAYS[moment.weekday()])
    if code[0] == "h":
        hour = (moment.hour + 11) % 12 + 1 if has_half else moment.hour
        return f"{hour:0{width}d}"
    whole, _, parts = code.partition(".")
    text = f"{moment.second:0{min(len(whole), 2)}d}"
    return f"{text}.{moment.microsecond:06d}"[: len(text) + 1 + len(parts)] if parts else text


def _number_or_name(number: int, code: str, name: str) -> str:
    return {1: str(number), 2: f"{number:02d}", 3: name[:3], 5: name[0]}.get(len(code), name)
