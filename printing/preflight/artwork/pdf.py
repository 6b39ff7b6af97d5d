"""Reads the inks, fonts and pictures of the first page of a PDF artwork without rendering it."""

import io
import math
from dataclasses import dataclass, replace
from typing import Any

import pikepdf

from printing.preflight.artwork.parts import PARTS, ArtworkFacts, ArtworkPart, Part
from printing.preflight.geometry import Area, enclosing
from printing.press.leftovers import left_in_colour
from printing.press.streams import IDENTITY, Matrix, scale_of, times

OPERATORS = 60_000
FORMS_DEEP = 6
UNREADABLE = ArtworkFacts(0.0, 0.0, (), is_readable=False)
_WHITES = {"g": (1.0,), "rg": (1.0, 1.0, 1.0), "k": (0.0, 0.0, 0.0, 0.0)}
_PAINTS = frozenset({"f", "F", "f*", "B", "B*", "b", "b*", "Tj", "TJ", "'", '"'})
_STROKES = frozenset({"S", "s", "B", "B*", "b", "b*"})
_SHOWS = frozenset({"Tj", "TJ", "'", '"'})


@dataclass(frozen=True, slots=True)
class _State:
    matrix: Matrix = IDENTITY
    line: float = 1.0
    fill: tuple[str, tuple[float, ...]] = ("g", (0.0,))
    stroke: tuple[str, tuple[float, ...]] = ("G", (0.0,))
    overprints: bool = False
    text: Matrix = IDENTITY
    size: float = 0.0


def read_pdf(content: bytes) -> ArtworkFacts:
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            page = pdf.pages[0]
            left, bottom, right, top = (float(one) for one in page.cropbox)
            reader = _Reader(height=top - bottom)
            start = replace(_State(), matrix=(1.0, 0.0, 0.0, 1.0, -left, -bottom))
            reader.read(page, page.obj.get("/Resources", pikepdf.Dictionary()), start, 0)
    except (pikepdf.PdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return UNREADABLE
    return ArtworkFacts(right - left, top - bottom, tuple(reader.parts))


class _Reader:
    def __init__(self, *, height: float) -> None:
        self.parts: list[ArtworkPart] = []
        self._height = height
        self._known: set[tuple[Part, str]] = set()
        self._left = OPERATORS

    def note(self, kind: Part, *, name: str = "", **facts: Any) -> None:
        """Notes a part; named parts only once."""
        if len(self.parts) < PARTS and (not name or (kind, name) not in self._known):
            self._known.add((kind, name))
            self.parts.append(ArtworkPart(kind, name=name, **facts))

    def read(self, stream: Any, resources: Any, state: _State, depth: int) -> None:
        self._resources(resources)
        stack: list[_State] = []
        for instruction in pikepdf.parse_content_stream(stream):
            operands: Any = instruction.operands
            self._left -= 1
            if self._left < 0:
                return
            name = str(instruction.operator)
            if name == "q":
                stack.append(state)
            elif name == "Q":
                state = stack.pop() if stack else state
            elif name == "Do":
                self._object(resources, operands[0], state, depth)
            else:
                state = self._changed(name, operands, resources, state)
                self._painted(name, state)

    def _resources(self, resources: Any) -> None:
        for font in resources.get("/Font", pikepdf.Dictionary()).values():
            self._font(font)
        for space in resources.get("/ColorSpace", pikepdf.Dictionary()).values():
            self._space(space)
        patterns = resources.get("/Pattern", pikepdf.Dictionary()).values()
        for holder in (resources, *(one.get("/Resources", pikepdf.Dictionary()) for one in patterns)):
            for name in left_in_colour(holder):
                self.note(Part.LEFT_IN_COLOUR, name=name)

    def _font(self, font: Any) -> None:
        name = str(font.get("/BaseFont", "/?"))[1:].rpartition("+")[2]
        if font.get("/Subtype") == "/Type3":
            return
        inner = font["/DescendantFonts"][0] if "/DescendantFonts" in font else font
        descriptor = inner.get("/FontDescriptor", pikepdf.Dictionary())
        embedded = any(key in descriptor for key in ("/FontFile", "/FontFile2", "/FontFile3"))
        self.note(Part.FONT, name=name, is_embedded=embedded)

    def _space(self, space: Any) -> None:
        if not isinstance(space, pikepdf.Array) or len(space) < 2:
            return
        names = [space[1]] if space[0] == "/Separation" else space[1] if space[0] == "/DeviceN" else []
        for name in (str(one)[1:] for one in names):
            if name not in {"All", "None", "Cyan", "Magenta", "Yellow", "Black"}:
                self.note(Part.SPOT, name=name)

    def _object(self, resources: Any, name: Any, state: _State, depth: int) -> None:
        shown = resources.get("/XObject", pikepdf.Dictionary()).get(str(name))
        if shown is None:
            return
        if shown.get("/Subtype") == "/Image":
            self._picture(shown, state)
        elif depth < FORMS_DEEP:
            inner = shown.get("/Resources", resources)
            matrix = shown.get("/Matrix")
            if matrix is not None:
                state = replace(state, matrix=times(state.matrix, _matrix(matrix)))
            self.read(shown, inner, state, depth + 1)

    def _picture(self, image: Any, state: _State) -> None:
        area = self._area(state, [(0, 0), (1, 0), (0, 1), (1, 1)])
        if image.get("/SMask") is not None:
            self.note(Part.TRANSPARENCY, name="soft mask", area=area)
        if image.get("/ImageMask") or not area.width or not area.height:
            return
        m = state.matrix
        across, down = math.hypot(m[0], m[1]) or 1.0, math.hypot(m[2], m[3]) or 1.0
        density = min(float(image["/Width"]) / across, float(image["/Height"]) / down)
        part = ArtworkPart(Part.PICTURE, area, density, self._picture_space(image))
        if len(self.parts) < PARTS:
            self.parts.append(part)

    def _picture_space(self, image: Any) -> str:
        """As Pillow names the mode, or "CMYK untagged"; a colour space with a profile is tagged."""
        space = image.get("/ColorSpace")
        if isinstance(space, pikepdf.Array) and space[0] == "/ICCBased":
            return {1: "L", 3: "RGB", 4: "CMYK"}.get(int(space[1].get("/N", 0)), "")
        named = {"/DeviceRGB": "RGB", "/CalRGB": "RGB", "/DeviceCMYK": "CMYK untagged", "/DeviceGray": "L"}
        return named.get(str(space), "") if isinstance(space, pikepdf.Name) else ""

    def _changed(self, name: str, operands: Any, resources: Any, state: _State) -> _State:
        if name == "cm":
            return replace(state, matrix=times(state.matrix, _matrix(operands)))
        if name == "w":
            return replace(state, line=float(operands[0]))
        if name in _WHITES:
            return replace(state, fill=(name, tuple(float(one) for one in operands)))
        if name in {"G", "RG", "K"}:
            return replace(state, stroke=(name, tuple(float(one) for one in operands)))
        if name == "gs":
            return self._graphics_state(resources, operands[0], state)
        if name == "BT":
            return replace(state, text=IDENTITY)
        if name == "Tm":
            return replace(state, text=_matrix(operands))
        if name in {"Td", "TD"}:
            step = (1.0, 0.0, 0.0, 1.0, float(operands[0]), float(operands[1]))
            return replace(state, text=times(state.text, step))
        if name == "Tf":
            return replace(state, size=float(operands[1]))
        return state

    def _graphics_state(self, resources: Any, name: Any, state: _State) -> _State:
        found = resources.get("/ExtGState", pikepdf.Dictionary()).get(str(name), pikepdf.Dictionary())
        mask, blend = found.get("/SMask"), found.get("/BM")
        opacity = min(float(found.get("/ca", 1)), float(found.get("/CA", 1)))
        if (
            opacity < 1
            or (mask is not None and mask != "/None")
            or blend not in {None, "/Normal", "/Compatible"}
        ):
            self.note(Part.TRANSPARENCY, name="transparency")
        overprints = found.get("/op", found.get("/OP"))
        if overprints is not None:
            state = replace(state, overprints=bool(overprints))
        return replace(state, line=float(found["/LW"])) if "/LW" in found else state

    def _painted(self, name: str, state: _State) -> None:
        if name in _PAINTS and state.overprints and state.fill[1] == _WHITES[state.fill[0]]:
            self.note(Part.WHITE_OVERPRINT, name="white")
        if name in _PAINTS and state.fill[0] == "k":
            self._ink(state.fill[1])
        if name in _STROKES:
            if state.stroke[0] == "K":
                self._ink(state.stroke[1])
            self.note(Part.LINE, name=f"line {state.line:g}", size=state.line * scale_of(state.matrix))
        if name in _SHOWS:
            place = times(state.matrix, state.text)
            size = state.size * scale_of(place)
            area = Area(place[4], self._height - place[5] - size, size, size)
            self.note(Part.TEXT, name=f"{size:.1f}", size=size, area=area)

    def _ink(self, parts: tuple[float, ...]) -> None:
        percent = 100 * sum(parts)
        self.note(Part.INK, name=f"{percent:.0f}", size=percent)

    def _area(self, state: _State, points: list[tuple[float, float]]) -> Area:
        """Counted from the upper left corner, as everything else here."""
        m = state.matrix
        return enclosing(
            (m[0] * x + m[2] * y + m[4], self._height - (m[1] * x + m[3] * y + m[5])) for x, y in points
        )


def _matrix(numbers: Any) -> Matrix:
    a, b, c, d, e, f = (float(one) for one in numbers)
    return (a, b, c, d, e, f)
