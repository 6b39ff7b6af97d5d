"""Converts colors in content streams: of Typst as text, of other PDFs by parsing them."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import pikepdf

from printing.press.paints import (
    COMPONENTS,
    GRAY,
    OF_CMYK,
    OF_RGB,
    OPERATORS,
    Paint,
    Values,
)

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
DEVICES = {b"g": GRAY, b"G": GRAY, b"rg": OF_RGB, b"RG": OF_RGB, b"k": OF_CMYK, b"K": OF_CMYK}
# What ends a path.
PAINTING = frozenset({"n", "s", "S", "f", "F", "f*", "B", "B*", "b", "b*"})
STROKING = frozenset({b"CS", b"SC", b"SCN", b"G", b"RG", b"K"})
_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)"
# Strings come first, because they can contain anything; starting with one character class skips numbers fast.
# `odd` are comments, and strings with more brackets in each other.
_OPERATORS = re.compile(
    rb"[(%\s](?:(?<=\()(?P<string>(?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\))|(?<=[(%])(?P<odd>)"
    rb"|(?<=\s)(?P<operator>scn|SCN|sc|SC|cs|CS|rg|RG|g|G|k|K|BI)(?=[\s/\[(<]|\Z))",
    re.DOTALL,
)
_OPERANDS = {
    count: re.compile(rb"(?<![^\s\])>])(?:" + _NUMBER + rb"\s+){%d}" % (count - 1) + _NUMBER + rb"\Z")
    for count in COMPONENTS.values()
}
# No four numbers are longer.
_MAX_LENGTH = 100


def times(m: Matrix, n: Matrix) -> Matrix:
    """The matrix that applies `n` first, then `m`."""
    return (
        m[0] * n[0] + m[2] * n[1],
        m[1] * n[0] + m[3] * n[1],
        m[0] * n[2] + m[2] * n[3],
        m[1] * n[2] + m[3] * n[3],
        m[0] * n[4] + m[2] * n[5] + m[4],
        m[1] * n[4] + m[3] * n[5] + m[5],
    )


def matrix_from(numbers: Any) -> Matrix:
    a, b, c, d, e, f = (float(value) for value in numbers)
    return a, b, c, d, e, f


def scale_of(m: Matrix) -> float:
    """The factor by which lengths grow, averaged over both directions."""
    return math.sqrt(abs(m[0] * m[3] - m[1] * m[2]))


class _UnsupportedForm(Exception):
    pass


def recolor_stream(content: bytes, spaces: Mapping[str, str], paint: Paint) -> bytes | None:
    """The stream with its colors painted; `spaces` says the kind of each named color space that can be.

    None if the stream has a form that must be taken apart.
    """
    try:
        return _Rewriting(content, spaces, paint).run()
    except _UnsupportedForm:
        return None


class _Rewriting:
    """Typst names the color space right before each color, which is why no state is kept."""

    def __init__(self, content: bytes, spaces: Mapping[str, str], paint: Paint) -> None:
        self._content, self._spaces, self._paint = content, spaces, paint
        self._pieces: list[bytes] = []
        self._copied = 0
        # A cache, because pages repeat few colors.
        self._painted_colors: dict[tuple[bytes, bytes, str], bytes | None] = {}

    def run(self) -> bytes:
        space: tuple[int, int, bytes] | None = None
        for match in _OPERATORS.finditer(self._content):
            operator, start = match["operator"], match.start()
            if match["odd"] is not None:
                raise _UnsupportedForm
            if operator is None:
                continue
            if operator in {b"cs", b"CS"}:
                if space is not None:
                    raise _UnsupportedForm
                space = (self._content.rfind(b"/", self._copied, start), match.end(), operator)
                continue
            if operator in DEVICES:
                self._replace_device(operator, start, match.end())
                continue
            if operator == b"BI" or space is None or space[0] < 0:
                raise _UnsupportedForm
            if (space[2] in STROKING) != (operator in STROKING):
                raise _UnsupportedForm
            self._put_named_color(space, operator, start, match.end())
            space = None
        if space is not None:
            raise _UnsupportedForm
        return b"".join([*self._pieces, self._content[self._copied :]])

    def _put_named_color(self, space: tuple[int, int, bytes], operator: bytes, start: int, end: int) -> None:
        slash, after, _ = space
        name = self._content[slash : after - 2].strip().decode("latin-1")
        if (kind := self._spaces.get(name)) is not None:
            self._put_color(kind, self._content[after:start], operator, slash, end)

    def _replace_device(self, operator: bytes, start: int, end: int) -> None:
        kind = DEVICES[operator]
        before = max(self._copied, start - _MAX_LENGTH)
        operands = _OPERANDS[COMPONENTS[kind]].search(self._content[before:start].rstrip())
        if operands is None:
            raise _UnsupportedForm
        self._put_color(kind, operands[0], operator, before + operands.start(), end)

    def _put_color(self, kind: str, operands: bytes, operator: bytes, start: int, end: int) -> None:
        key = (operands, operator, kind)
        if key not in self._painted_colors:
            self._painted_colors[key] = self._paint_color(*key)
        if (painted := self._painted_colors[key]) is not None:
            self._pieces += [self._content[self._copied : start], painted]
            self._copied = end

    def _paint_color(self, operands: bytes, operator: bytes, kind: str) -> bytes | None:
        try:
            values = [float(operand) for operand in operands.split()]
        except ValueError as error:
            raise _UnsupportedForm from error
        if len(values) != COMPONENTS[kind]:
            raise _UnsupportedForm
        painted = self._paint.color(kind, values)
        is_stroking = operator in STROKING
        return None if painted is None else setting(painted, self._paint.target, is_stroking=is_stroking)


def setting(values: Values, kind: str, *, is_stroking: bool) -> bytes:
    # A space, because the text before may end in a name or an operator.
    return b" " + b" ".join([*map(number, values), OPERATORS[kind][is_stroking]])


def number(value: float) -> bytes:
    return f"{value:.4f}".rstrip("0").rstrip(".").encode() or b"0"


Instruction = pikepdf.ContentStreamInstruction | pikepdf.ContentStreamInlineImage


class ParsedStream:
    """A content stream of any PDF: colors are set under a color space that was set before, perhaps far away."""

    def __init__(self, spaces: Mapping[str, str], paint: Paint, *, is_page: bool = False) -> None:
        self._spaces, self._paint = spaces, paint
        # A page begins with gray, and a form with the space of what draws it.
        self._current: dict[bool, str | None] = dict.fromkeys((False, True), GRAY) if is_page else {}
        self._stack: list[dict[bool, str | None]] = []
        self._handlers: dict[str, Callable[[Instruction, bool], list[Instruction]]] = {
            **dict.fromkeys(("cs", "CS"), self._replace_space),
            **dict.fromkeys(("sc", "SC", "scn", "SCN"), self._replace_color),
            **dict.fromkeys(("g", "G", "rg", "RG", "k", "K"), self._replace_device),
        }

    def recolor(self, instructions: list[Instruction]) -> bytes:
        output: list[Instruction] = []
        for instruction in instructions:
            name = str(instruction.operator)
            if name == "q":
                self._stack.append(dict(self._current))
            elif name == "Q" and self._stack:
                self._current = self._stack.pop()
            handler = self._handlers.get(name)
            output += handler(instruction, name.encode() in STROKING) if handler else [instruction]
        return pikepdf.unparse_content_stream(output)

    def _replace_space(self, instruction: Instruction, is_stroking: bool) -> list[Instruction]:
        kind = self._spaces.get(str(instruction.operands[0])) if instruction.operands else None
        self._current[is_stroking] = kind
        if kind is None:
            return [instruction]
        black = [0.0, 0.0, 0.0, 1.0] if kind == OF_CMYK else [0.0] * COMPONENTS[kind]
        return self._paint_color(kind, black, instruction, is_stroking)

    def _replace_color(self, instruction: Instruction, is_stroking: bool) -> list[Instruction]:
        operands = instruction.operands
        # One number may as well be the tint of a spot color.
        kind = self._current.get(is_stroking, {3: OF_RGB, 4: OF_CMYK}.get(len(operands)))
        if kind is None or len(operands) != COMPONENTS[kind] or isinstance(operands[-1], pikepdf.Name):
            return [instruction]
        return self._paint_color(kind, [float(value) for value in operands], instruction, is_stroking)

    def _replace_device(self, instruction: Instruction, is_stroking: bool) -> list[Instruction]:
        kind = DEVICES[str(instruction.operator).encode()]
        self._current[is_stroking] = kind
        if len(instruction.operands) != COMPONENTS[kind]:
            return [instruction]
        return self._paint_color(
            kind, [float(value) for value in instruction.operands], instruction, is_stroking
        )

    def _paint_color(
        self, kind: str, values: Values, instruction: Instruction, is_stroking: bool
    ) -> list[Instruction]:
        painted = self._paint.color(kind, values)
        if painted is None:
            return [instruction]
        operator = OPERATORS[self._paint.target][is_stroking].decode()
        operands = [round(value, 4) for value in painted]
        return [pikepdf.ContentStreamInstruction(operands, pikepdf.Operator(operator))]
