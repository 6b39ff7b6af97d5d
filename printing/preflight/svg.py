"""Lines, letters and pictures of an SVG that `printing.typesetting` has accepted."""

import base64
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from printing.area import Area, enclosing
from printing.artwork.parts import ArtworkPart, Part
from printing.preflight.pictures import facts_of
from printing.press.streams import IDENTITY, Matrix, scale_of, times
from printing.typesetting.svg_references import read_properties

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_TRANSFORM = re.compile(r"(matrix|translate|scale|rotate)\s*+\(([^()]*+)\)")
_INHERITED = ("stroke", "stroke-width", "font-size", "font-family", "opacity", "stroke-opacity", "visibility")
_DRAWN = frozenset({"path", "line", "rect", "circle", "ellipse", "polyline", "polygon"})
# The content of these elements is drawn only where it is referenced.
_UNDRAWN = frozenset({"defs", "clippath", "mask", "pattern", "symbol", "marker"})


class _Declared(Exception):
    pass


@dataclass(slots=True)
class _Element:
    name: str
    own: Mapping[str, str]
    style: Mapping[str, str]
    matrix: Matrix
    is_drawn: bool
    letters: list[str] = field(default_factory=list)


def read_svg(content: bytes) -> list[ArtworkPart]:
    reader = _Reader(content)
    parser = expat.ParserCreate(encoding="utf-8")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.letters
    parser.StartDoctypeDeclHandler = _end_reading
    try:
        parser.Parse(content, True)
    except (_Declared, expat.ExpatError):
        return reader.parts
    return reader.parts


def _end_reading(*_: object) -> None:
    """Stops the parser before an entity is declared, because entities can expand without limit."""
    raise _Declared


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self.parts: list[ArtworkPart] = []
        self._open: list[_Element] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2].lower()
        own = read_properties(attributes)
        outer = self._open[-1] if self._open else _Element("", {}, {}, IDENTITY, True)
        # Shortened: as many as 20,000 elements read them again.
        inherited = {key: own[key][:100] for key in _INHERITED if key in own}
        matrix = (
            outer.matrix if name == "svg" else times(outer.matrix, _read_matrix(own.get("transform", "")))
        )
        if name == "svg" and not self._open:
            matrix = _view_origin(own)
        is_drawn = outer.is_drawn and name not in _UNDRAWN and own.get("display") != "none"
        element = _Element(name, own, {**outer.style, **inherited}, matrix, is_drawn)
        self._open.append(element)
        # Typst writes it as a function that stays in RGB, and that programs draw in different ways.
        is_repeated = name == "lineargradient" and own.get("spreadmethod", "pad") != "pad"
        reference = re.escape(f"#{own.get('id')}").encode()
        if is_repeated and re.search(reference + rb"""[)"'\s]""", self._content):
            self.parts.append(ArtworkPart(Part.LEFT_IN_COLOR, name="an SVG gradient that repeats"))
        if is_drawn and name in _DRAWN:
            self._read_line(element)
        if is_drawn and name == "image":
            self._read_picture(element)

    def letters(self, text: str) -> None:
        if self._open and self._open[-1].name in {"text", "tspan", "textpath"}:
            self._open[-1].letters.append(text)

    def end(self, _: str) -> None:
        element = self._open.pop()
        text = "".join(element.letters).strip()
        if not text or not element.is_drawn:
            return
        size = _read_length(element.style.get("font-size", "16"), 16.0)
        family = element.style.get("font-family", "").split(",")[0].strip().strip("'\"")
        origin = element if "x" in element.own or not self._open else self._open[-1]
        x, y = _read_length(origin.own.get("x", "0"), 0.0), _read_length(origin.own.get("y", "0"), 0.0)
        # Letters are about half as wide as they are high.
        area = _transformed_area(element.matrix, [(x, y - size), (x + 0.5 * size * len(text), y)])
        self.parts.append(ArtworkPart(Part.TEXT, area, size * scale_of(element.matrix), family))

    def _read_line(self, element: _Element) -> None:
        style = element.style
        width = _read_length(style.get("stroke-width", "1"), 1.0)
        if style.get("stroke", "none") in {"none", "transparent"} or width <= 0:
            return
        if "0" in {style.get("opacity"), style.get("stroke-opacity")} or style.get("visibility") == "hidden":
            return
        points = _find_corners(element)
        area = _transformed_area(element.matrix, points) if points else None
        self.parts.append(ArtworkPart(Part.LINE, area, width * scale_of(element.matrix)))

    def _read_picture(self, element: _Element) -> None:
        own = element.own
        width, height = _read_length(own.get("width", ""), 0.0), _read_length(own.get("height", ""), 0.0)
        _, _, encoded = own.get("href", "").partition(";base64,")
        if not encoded or width <= 0 or height <= 0:
            return
        facts = facts_of(base64.b64decode(encoded))
        if facts is None:
            return
        x, y = _read_length(own.get("x", "0"), 0.0), _read_length(own.get("y", "0"), 0.0)
        area = _transformed_area(element.matrix, [(x, y), (x + width, y + height)])
        # By default a viewBox fits as a whole, so the smaller scale of both directions applies.
        density = max(facts.width / width, facts.height / height) / (scale_of(element.matrix) or 1.0)
        self.parts.append(ArtworkPart(Part.PICTURE, area, density, facts.mode))


def _read_length(text: str, otherwise: float) -> float:
    match = _NUMBER.match(text)
    return float(match[0]) if match and math.isfinite(float(match[0])) else otherwise


def _read_numbers(text: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(text)]


def _find_corners(element: _Element) -> list[tuple[float, float]]:
    """The corners of a shape's bounding box; none for a path, whose commands are not read."""
    own, name = element.own, element.name

    def of(*keys: str) -> list[float]:
        return [_read_length(own.get(key, "0"), 0.0) for key in keys]

    if name == "line":
        x1, y1, x2, y2 = of("x1", "y1", "x2", "y2")
        return [(x1, y1), (x2, y2)]
    if name == "rect":
        x, y, width, height = of("x", "y", "width", "height")
        return [(x, y), (x + width, y + height)]
    if name in {"circle", "ellipse"}:
        x, y, rx, ry = of("cx", "cy", *(("r", "r") if name == "circle" else ("rx", "ry")))
        return [(x - rx, y - ry), (x + rx, y + ry)]
    numbers = _read_numbers(own.get("points", ""))
    return list(zip(numbers[::2], numbers[1::2], strict=False))


def _view_origin(own: Mapping[str, str]) -> Matrix:
    box = _read_numbers(own.get("viewbox", ""))
    return (1.0, 0.0, 0.0, 1.0, -box[0], -box[1]) if len(box) == 4 else IDENTITY


def _read_matrix(text: str) -> Matrix:
    product = IDENTITY
    for kind, inner in _TRANSFORM.findall(text):
        n = _read_numbers(inner)
        step = IDENTITY
        if kind == "matrix" and len(n) == 6:
            step = (n[0], n[1], n[2], n[3], n[4], n[5])
        elif kind == "translate" and n:
            step = (1.0, 0.0, 0.0, 1.0, n[0], n[1] if len(n) > 1 else 0.0)
        elif kind == "scale" and n:
            step = (n[0], 0.0, 0.0, n[1] if len(n) > 1 else n[0], 0.0, 0.0)
        elif kind == "rotate" and n:
            step = _read_rotation(n)
        product = times(product, step)
    return product


def _read_rotation(n: list[float]) -> Matrix:
    cos, sin = math.cos(math.radians(n[0])), math.sin(math.radians(n[0]))
    x, y = (n[1], n[2]) if len(n) == 3 else (0.0, 0.0)
    return (cos, sin, -sin, cos, x - x * cos + y * sin, y - x * sin - y * cos)


def _transformed_area(m: Matrix, points: list[tuple[float, float]]) -> Area:
    return enclosing(
        (m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]) for x, y in _complete_corners(points)
    )


def _complete_corners(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """All four corners of a rectangle given by two opposite ones."""
    if len(points) != 2:
        return points
    (x1, y1), (x2, y2) = points
    return [(x1, y1), (x2, y1), (x1, y2), (x2, y2)]
