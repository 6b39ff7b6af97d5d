"""Shows a number of a workbook as its cell shows it: by the number format of Excel and LibreOffice."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

# Formats with these numbers follow the language of whoever looks: they are shown as ISO.
LOCAL_DATES = frozenset({14, *range(27, 37), *range(50, 59)})
LOCAL_DATE_TIMES = frozenset({22})
ISO_DATE, ISO_DATE_TIME = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
_TOKEN = re.compile(
    r"\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)|(?P<skipped>[_*].)|\[(?P<bracket>[^\]]*)\]"
    r"|(?P<half>AM/PM|A/P)|(?P<general>General)|(?P<exponent>E[+-])|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?)"
    r"|(?P<digit>[0#?])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[]|["\\\[])*)(?:;|$)')
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?[\d.]+)")
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
# In English, whatever the language of this process is.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001 (cells have no zone)
# 31 December 9999.
_LAST_DAY = 2_958_466
# A spreadsheet keeps fifteen digits.
PRECISION = 15


@dataclass(frozen=True)
class Token:
    kind: str
    text: str


@dataclass(frozen=True)
class Section:
    tokens: tuple[Token, ...]
    condition: tuple[str, float] | None

    @property
    def is_date(self) -> bool:
        return any(token.kind in {"date", "elapsed"} for token in self.tokens)


def shown(number: float, code: str, *, is_1904: bool = False) -> str | None:
    """The text of the cell; None for a date that there is not."""
    sections = _sections(code)
    section, is_absolute = _section_for(number, sections)
    if section.is_date:
        return _date(number, section.tokens, is_1904=is_1904)
    if any(token.kind == "general" for token in section.tokens) or not section.tokens:
        return _around_general(abs(number) if is_absolute else number, section.tokens)
    return _number(abs(number) if is_absolute else number, section.tokens)


def general(number: float) -> str:
    if number == int(number) and abs(number) < 10**PRECISION:
        return str(int(number))
    text = f"{number:.{PRECISION}g}"
    return format(Decimal(text), "f") if abs(number) >= 1e-9 else text


@lru_cache(maxsize=256)
def _sections(code: str) -> tuple[Section, ...]:
    if re.search(r"\[\$-[0-9a-f]*F800\]", code, re.IGNORECASE):
        code = ISO_DATE
    elif re.search(r"\[\$-[0-9a-f]*F400\]", code, re.IGNORECASE):
        code = "hh:mm:ss"
    parts = [match[1] for match in _SECTION.finditer(code)]
    # The expression matches once more at the end of the text.
    return tuple(_section(part) for part in (parts[:-1] if len(parts) > 1 and not parts[-1] else parts)[:4])


def _section(text: str) -> Section:
    tokens: list[Token] = []
    condition = None
    for match in _TOKEN.finditer(text):
        kind, value = str(match.lastgroup), str(match[str(match.lastgroup)])
        if kind == "bracket":
            if found := _CONDITION.fullmatch(value):
                condition = (found[1], float(found[2]))
            elif _ELAPSED.fullmatch(value):
                tokens.append(Token("elapsed", value.lower()))
            elif value.startswith("$") and (symbol := value[1:].partition("-")[0]):
                tokens.append(Token("literal", symbol))
        elif kind in {"quoted", "escaped"}:
            tokens.append(Token("literal", value))
        elif kind == "skipped":
            # `_x` leaves the width of a character, `*x` fills the cell.
            tokens += [Token("literal", " ")] if value.startswith("_") else []
        elif kind == "date":
            tokens.append(Token("date", value.lower()))
        else:
            tokens.append(Token(kind, value))
    return Section(tuple(tokens), condition)


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


def _around_general(number: float, tokens: Sequence[Token]) -> str:
    if not tokens:
        return general(number)
    return "".join(general(number) if token.kind == "general" else token.text for token in tokens)


def _number(number: float, tokens: Sequence[Token]) -> str:
    if any(token.kind == "exponent" for token in tokens):
        return _scientific(number, tokens)
    if not any(token.kind == "digit" for token in tokens):
        # `@`, or text in place of the number.
        return "".join(general(number) if token.text == "@" else token.text for token in tokens)
    if any(token == Token("other", "/") for token in tokens):
        return general(number)
    first, last, point = _pattern(tokens)
    decimals = sum(token.kind == "digit" for token in tokens[point:])
    value = Decimal(repr(number)).scaleb(2 * sum(token == Token("other", "%") for token in tokens))
    end = last + 1
    while end < len(tokens) and tokens[end] == Token("other", ","):
        value = value.scaleb(-3)
        end += 1
    value = value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole, _, fraction = format(abs(value), "f").partition(".")
    has_groups = any(token == Token("other", ",") for token in tokens[first : min(point, last)])
    text = "".join(
        [
            *(token.text for token in tokens[:first]),
            _whole(whole, tokens[first:point], has_groups=has_groups),
            _fraction(fraction, tokens[point:end]),
            *(token.text for token in tokens[end:]),
        ]
    )
    return f"-{text}" if value < 0 else text


def _pattern(tokens: Sequence[Token]) -> tuple[int, int, int]:
    """Where the digits begin and end, and where the decimal point stands."""
    digits = [place for place, token in enumerate(tokens) if token.kind == "digit"]
    point = next(
        (place for place, token in enumerate(tokens) if token == Token("other", ".")), digits[-1] + 1
    )
    return min(digits[0], point), max(digits[-1], point) if point < len(tokens) else digits[-1], point


def _whole(digits: str, tokens: Sequence[Token], *, has_groups: bool) -> str:
    """The digits from the right into their places; the leftmost place takes all that remain."""
    digits = "" if digits == "0" else digits
    places = [place for place, token in enumerate(tokens) if token.kind == "digit"]
    parts: list[str] = []
    count = 0
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place]
        if token.kind != "digit":
            if token != Token("other", ","):
                parts.append(token.text[::-1])
            continue
        take = len(digits) if place == places[0] else 1
        taken = digits[len(digits) - take :] if take else ""
        digits = digits[: len(digits) - len(taken)]
        taken = taken or {"0": "0", "?": " ", "#": ""}[token.text]
        for digit in reversed(taken):
            parts.append("," if has_groups and count and count % 3 == 0 else "")
            parts.append(digit)
            count += 1
    return "".join(parts)[::-1]


def _fraction(digits: str, tokens: Sequence[Token]) -> str:
    needed = len(digits.rstrip("0"))
    text, place = "", 0
    for token in tokens:
        if token.kind != "digit":
            text += "" if token == Token("other", ",") else token.text
            continue
        if place < needed or token.text == "0":
            text += digits[place]
        elif token.text == "?":
            text += " "
        place += 1
    return text


def _scientific(number: float, tokens: Sequence[Token]) -> str:
    sign = next(place for place, token in enumerate(tokens) if token.kind == "exponent")
    point = next((place for place, token in enumerate(tokens) if token == Token("other", ".")), sign)
    decimals = sum(token.kind == "digit" for token in tokens[point:sign])
    width = sum(token.kind == "digit" for token in tokens[sign:])
    mantissa, _, exponent = f"{number:.{decimals}E}".partition("E")
    shown_sign = "-" if int(exponent) < 0 else "+" if tokens[sign].text.endswith("+") else ""
    return f"{mantissa}E{shown_sign}{abs(int(exponent)):0{width}d}"


def _date(number: float, tokens: Sequence[Token], *, is_1904: bool) -> str | None:
    if not 0 <= number < _LAST_DAY:
        return None
    parts = next((len(token.text) - 2 for token in tokens if token.kind == "date" and "." in token.text), 0)
    seconds = Decimal(repr(number)) * 86_400
    rounded = seconds.quantize(Decimal(1).scaleb(-max(parts, 0)), ROUND_HALF_UP)
    # Excel counts a 29 February 1900 that there was not.
    shift = 1 if not is_1904 and number < 60 else 0
    moment = (_EPOCH_1904 if is_1904 else _EPOCH) + timedelta(days=shift, seconds=float(rounded))
    has_half = any(token.kind == "half" for token in tokens)
    text = []
    for place, token in enumerate(tokens):
        if token.kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[token.text[0]]
            text.append(f"{int(rounded // unit):0{len(token.text)}d}")
        elif token.kind == "half":
            half = "AM" if moment.hour < 12 else "PM"
            text.append(half if token.text.upper() == "AM/PM" else half[0])
        elif token.kind == "date":
            text.append(_date_part(moment, token.text, tokens, place, has_half=has_half))
        elif token.text not in {"@", "\\"}:
            text.append(token.text)
    return "".join(text)


def _date_part(moment: datetime, code: str, tokens: Sequence[Token], place: int, *, has_half: bool) -> str:
    width = min(len(code), 2)
    if code[0] == "y":
        return f"{moment.year:04d}" if len(code) > 2 else f"{moment.year % 100:02d}"
    if code[0] == "m" and len(code) < 3 and _is_minute(tokens, place):
        return f"{moment.minute:0{width}d}"
    if code[0] == "m":
        return _named(moment.month, code, _MONTHS[moment.month - 1])
    if code[0] == "d":
        return _named(moment.day, code, _DAYS[moment.weekday()])
    if code[0] == "h":
        hour = (moment.hour + 11) % 12 + 1 if has_half else moment.hour
        return f"{hour:0{width}d}"
    whole, _, parts = code.partition(".")
    text = f"{moment.second:0{min(len(whole), 2)}d}"
    return f"{text}.{moment.microsecond:06d}"[: len(text) + 1 + len(parts)] if parts else text


def _named(number: int, code: str, name: str) -> str:
    return {1: str(number), 2: f"{number:02d}", 3: name[:3], 5: name[0]}.get(len(code), name)


def _is_minute(tokens: Sequence[Token], place: int) -> bool:
    """`m` is the minute after hours and before seconds."""
    units = [(at, token.text[0]) for at, token in enumerate(tokens) if token.kind in {"date", "elapsed"}]
    before = next((unit for at, unit in reversed(units) if at < place), "")
    after = next((unit for at, unit in units if at > place), "")
    return before == "h" or after == "s"
