"""Reads the inks, fonts, texts and pictures of the first page of a prepared PDF without rendering it."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pikepdf

from printing.area import Area, enclosing
from printing.artwork.apart import find_parts_apart, missing_font
from printing.artwork.parts import OPERATORS, PARTS, TEXTS, ArtworkFacts, ArtworkPart, Part
from printing.artwork.pdf_content import (
    BLACK,
    WHITES,
    Color,
    Layers,
    Letters,
    left_in_color,
    read_color,
    replaced_plates,
    shadings_of,
    slivers,
    spots_of,
)
from printing.pictures import THUMBNAIL, highest_ink
from printing.press.die_lines import is_tool
from printing.press.gradients import is_repaintable
from printing.press.objects import Visited, save_pdf
from printing.press.paints import GRAY, OF_CMYK, OF_RGB
from printing.press.repaint import decode_picture, kind_of
from printing.press.screen import open_pdf
from printing.press.streams import DEVICES, IDENTITY, STROKING, Matrix, matrix_from, scale_of, times

# Usual files have six; the renderer of proofs leaves out what is 45 deep.
FORMS_DEEP = 28
UNREADABLE = ArtworkFacts(0.0, 0.0, (), is_readable=False)
# Letters reach so far above their line, as a share of their size; few reach below it.
ASCENT = 0.72
_FILLS = frozenset({"f", "F", "f*", "B", "B*", "b", "b*"})
_STROKES = frozenset({"S", "s", "B", "B*", "b", "b*"})
_SHOWS = frozenset({"Tj", "TJ", "'", '"'})
_PATHS = {"m": (0,), "l": (0,), "c": (0, 2, 4), "v": (0, 2), "y": (0, 2)}
_ENDS = _FILLS | _STROKES | {"n"}
_INVISIBLE = frozenset({3, 7})
# Fonts and plates stay in the file, also those of marks.
_CUT_OFF = frozenset(
    {Part.LINE, Part.TEXT, Part.INK, Part.OVERPRINT, Part.WHITE_OVERPRINT, Part.REGISTRATION, Part.RGB}
)
_NUMBERS = {"w": "line", "TL": "leading", "Tc": "spacing", "Tw": "word_spacing", "Ts": "rise"}
# In points. Thinner fills are lines; shorter ones are parts of letters and pictures.
THIN, LONG, FILLS_KEPT = 0.25, 3.0, 400


@dataclass(frozen=True, slots=True)
class _State:
    matrix: Matrix = IDENTITY
    line: float = 1.0
    fill: Color = BLACK
    stroke: Color = BLACK
    overprints_fill: bool = False
    overprints_stroke: bool = False
    keeps_zeros: bool = False
    text: Matrix = IDENTITY
    row: Matrix = IDENTITY
    size: float = 0.0
    leading: float = 0.0
    spacing: float = 0.0
    word_spacing: float = 0.0
    stretch: float = 1.0
    rise: float = 0.0
    mode: int = 0
    font: Letters | None = None
    font_name: str = ""


def read_pdf(content: bytes | Path, *, small: bytes = b"", trim: Area | None = None) -> ArtworkFacts:
    """`small` is the same PDF with smaller pictures, enough to see what is behind its letters. Outside of `trim`, in
    points, are marks that are cut off."""
    try:
        with open_pdf(content) as pdf:
            page = pdf.pages[0]
            _, _, right, top = (float(side) for side in page.mediabox)
            reader = _Reader(height=top, trim=trim)
            reader.read(page, page.obj.get("/Resources", pikepdf.Dictionary()), _State(), 0)
            reader.note_slivers()
            bare = _without_letters(small or content) if reader.has_letters else b""
    except (pikepdf.PdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return UNREADABLE
    return ArtworkFacts(right, top, tuple(reader.parts), bare=bare)


def _without_letters(content: bytes | Path) -> bytes:
    """The first page with nothing in the place of its letters, to see what is behind them."""
    with open_pdf(content) as pdf, pikepdf.new() as bare:
        bare.pages.append(pdf.pages[0])
        if "/Contents" in bare.pages[0].obj:
            bare.pages[0].contents_coalesce()
            _drop_letters(bare.pages[0].obj.Contents)
        for stream in bare.objects:
            if isinstance(stream, pikepdf.Stream) and stream.get("/Subtype") == "/Form":
                _drop_letters(stream)
        return save_pdf(bare, static_id=True)


def _drop_letters(stream: Any) -> None:
    content = pikepdf.parse_content_stream(stream)
    remaining = [instruction for instruction in content if str(instruction.operator) not in _SHOWS]
    if len(remaining) < len(content):
        stream.write(pikepdf.unparse_content_stream(remaining))


class _Reader:
    def __init__(self, *, height: float, trim: Area | None) -> None:
        self.parts: list[ArtworkPart] = []
        self.has_letters = False
        self._height, self._trim = height, trim
        self._noted: set[tuple[Part, str]] = set()
        self._counts: Counter[Part] = Counter()
        self._operators_left, self._texts_left = OPERATORS, TEXTS
        self._path: list[tuple[float, float]] = []
        self._rectangles: list[Area] = []
        self._fills: list[Area] = []
        self._layers = Layers()
        self._visited = Visited()
        self._fonts: dict[tuple[int, int], Letters] = {}

    def note(self, kind: Part, *, name: str = "", **facts: Any) -> None:
        """Notes a part; named parts only once."""
        if kind in _CUT_OFF and self._is_outside(facts.get("area")):
            return
        if self._counts[kind] < PARTS and (not name or (kind, name) not in self._noted):
            self._noted.add((kind, name))
            self._counts[kind] += 1
            self.parts.append(ArtworkPart(kind, name=name, **facts))

    def _is_outside(self, area: Area | None) -> bool:
        return area is not None and self._trim is not None and not area.touches(self._trim)

    def read(self, stream: Any, resources: Any, state: _State, depth: int) -> None:
        self._read_resources(resources)
        stack: list[_State] = []
        for instruction in pikepdf.parse_content_stream(stream):
            operands: Any = instruction.operands
            self._operators_left -= 1
            if self._operators_left < 0:
                self.note(Part.UNEXAMINED, name=str(Part.UNEXAMINED))
                return
            name = str(instruction.operator)
            if name == "q":
                stack.append(state)
            elif name == "Q":
                state = stack.pop() if stack else state
            elif name == "Do":
                self._read_object(resources, operands[0], state, depth)
            elif name in {"sh", "INLINE IMAGE"}:
                self._layers.add(None, None)
            elif name in _SHOWS:
                state = self._show_text(name, operands, state)
            else:
                state = self._update_state(name, operands, resources, state)
                self._read_path(name, operands, state)

    def _read_resources(self, resources: Any) -> None:
        for kind, name in find_parts_apart(resources, self._visited):
            self.note(kind, name=name, is_embedded=kind != Part.FONT)
        patterns = resources.get("/Pattern", pikepdf.Dictionary()).values()
        for holder in (resources, *(pattern.get("/Resources", pikepdf.Dictionary()) for pattern in patterns)):
            for name in left_in_color(holder):
                self.note(Part.LEFT_IN_COLOR, name=name)
            shadings = (
                shading for shading in shadings_of(holder) if kind_of(shading.get("/ColorSpace")) == OF_RGB
            )
            if any(is_repaintable(shading, OF_RGB) for shading in shadings):
                self.note(Part.RGB, name="RGB")

    def _read_object(self, resources: Any, name: Any, state: _State, depth: int) -> None:
        xobject = resources.get("/XObject", pikepdf.Dictionary()).get(str(name))
        if xobject is None:
            return
        if xobject.get("/Subtype") == "/Image":
            self._read_picture(xobject, state)
        elif depth == FORMS_DEEP:
            raise RecursionError
        else:
            inner = xobject.get("/Resources", resources)
            matrix = xobject.get("/Matrix")
            if matrix is not None:
                state = replace(state, matrix=times(state.matrix, matrix_from(matrix)))
            self.read(xobject, inner, state, depth + 1)

    def _read_picture(self, image: Any, state: _State) -> None:
        area = self._map_area(state.matrix, [(0, 0), (1, 0), (0, 1), (1, 1)])
        self._layers.add(None, area)
        if image.get("/SMask") is not None:
            self.note(Part.TRANSPARENCY, name="soft mask", area=area)
        if image.get("/ImageMask") or not area.width or not area.height:
            return
        m, space = state.matrix, image.get("/ColorSpace")
        across, down = math.hypot(m[0], m[1]) or 1.0, math.hypot(m[2], m[3]) or 1.0
        density = min(float(image["/Width"]) / across, float(image["/Height"]) / down)
        if self._counts[Part.PICTURE] < PARTS:
            self._counts[Part.PICTURE] += 1
            self.parts.append(ArtworkPart(Part.PICTURE, area, density, _picture_space(space)))
        self._note_spots(space, area)
        if kind_of(space) == OF_CMYK and (picture := decode_picture(image, OF_CMYK, THUMBNAIL)) is not None:
            self.note(Part.INK, size=highest_ink(picture), area=area)

    def _update_state(self, name: str, operands: Any, resources: Any, state: _State) -> _State:
        if name == "cm":
            return replace(state, matrix=times(state.matrix, matrix_from(operands)))
        if name in {"cs", "CS", "sc", "SC", "scn", "SCN"} or name.encode() in DEVICES:
            if name.encode() in STROKING:
                return replace(state, stroke=read_color(name, operands, resources, state.stroke))
            return replace(state, fill=read_color(name, operands, resources, state.fill))
        if name == "gs":
            return self._graphics_state(resources, operands[0], state)
        if name == "Tf":
            return self._set_font(resources, str(operands[0]), float(operands[1]), state)
        if name in {"Tm", "BT"}:
            start = matrix_from(operands) if operands else IDENTITY
            return replace(state, text=start, row=start)
        if name in {"Td", "TD", "T*"}:
            return _next_row(name, operands, state)
        if name in _NUMBERS:
            values: dict[str, Any] = {_NUMBERS[name]: float(operands[0])}
            return replace(state, **values)
        if name == "Tz":
            return replace(state, stretch=float(operands[0]) / 100)
        return replace(state, mode=int(operands[0])) if name == "Tr" else state

    def _set_font(self, resources: Any, name: str, size: float, state: _State) -> _State:
        font = resources.get("/Font", pikepdf.Dictionary()).get(name)
        if font is None:
            return replace(state, font=None, font_name="", size=size)
        if font.objgen not in self._fonts or not font.is_indirect:
            self._fonts[font.objgen] = Letters(font)
        return replace(state, font=self._fonts[font.objgen], font_name=missing_font(font), size=size)

    def _graphics_state(self, resources: Any, name: Any, state: _State) -> _State:
        changes = resources.get("/ExtGState", pikepdf.Dictionary()).get(str(name), pikepdf.Dictionary())
        mask, blends = changes.get("/SMask"), _blends(changes.get("/BM"))
        opacity = min(float(changes.get("/ca", 1)), float(changes.get("/CA", 1)))
        is_masked = mask is not None and mask != "/None"
        if opacity < 1 or is_masked or blends:
            self.note(Part.TRANSPARENCY, name="transparency")
        if blends:
            self.note(Part.BLENDING, name="blending")
        stroke = changes.get("/OP", state.overprints_stroke)
        fill = changes.get("/op", changes.get("/OP", state.overprints_fill))
        state = replace(state, overprints_fill=bool(fill), overprints_stroke=bool(stroke))
        if "/OPM" in changes:
            state = replace(state, keeps_zeros=int(changes["/OPM"]) == 1)
        return replace(state, line=float(changes["/LW"])) if "/LW" in changes else state

    def _read_path(self, name: str, operands: Any, state: _State) -> None:
        if name in _PATHS:
            numbers = [float(operand) for operand in operands]
            self._path += [(numbers[index], numbers[index + 1]) for index in _PATHS[name]]
        elif name == "re":
            x, y, width, height = (float(operand) for operand in operands)
            corners = [(x, y), (x + width, y), (x, y + height), (x + width, y + height)]
            self._path += corners
            self._rectangles.append(self._map_area(state.matrix, corners))
        if name not in _ENDS:
            return
        area = self._map_area(state.matrix, self._path) if self._path else None
        rectangles, self._path, self._rectangles = self._rectangles, [], []
        if name in _FILLS:
            self._note_color(
                state.fill, area, overprints=state.overprints_fill, keeps_zeros=state.keeps_zeros
            )
            if name not in _STROKES and state.fill.plates != frozenset():
                self._fills += rectangles[: FILLS_KEPT - len(self._fills)]
        if name in _STROKES:
            self._note_color(
                state.stroke, area, overprints=state.overprints_stroke, keeps_zeros=state.keeps_zeros
            )
            size = state.line * scale_of(state.matrix)
            self.note(Part.LINE, name=f"line {size:.3f}", size=size, area=area)

    def note_slivers(self) -> None:
        for area in slivers(self._fills, thin=THIN, long=LONG):
            size = min(area.width, area.height)
            self.note(Part.LINE, name=f"line {size:.3f}", size=size, area=area)

    def _note_color(self, color: Color, area: Area | None, *, overprints: bool, keeps_zeros: bool) -> None:
        if overprints and not all(map(is_tool, color.spot.split("\n"))):
            is_white = color.kind is not None and color.values == WHITES.get(color.kind)
            kind = Part.WHITE_OVERPRINT if is_white else Part.OVERPRINT
            if self._layers.shows_through(replaced_plates(color, keeps_zeros), area):
                self.note(kind, name=str(kind), area=area)
        self._layers.add(color.plates, area)
        if color.is_registration:
            if any(color.values):
                self.note(Part.REGISTRATION, name=str(Part.REGISTRATION), area=area)
        elif color.kind == OF_CMYK:
            percent = 100 * sum(color.values)
            self.note(Part.INK, name=f"{percent:.0f}", size=percent, area=area)
        elif color.kind == OF_RGB and len(set(color.values)) > 1:
            self.note(Part.RGB, name="RGB", area=area)
        for spot in filter(None, color.spot.split("\n")):
            self.note(Part.SPOT, name=spot, area=area)

    def _note_spots(self, space: Any, area: Area | None) -> None:
        inner = space[1] if isinstance(space, pikepdf.Array) and str(space[0]) == "/Indexed" else space
        for spot in filter(None, spots_of(inner).split("\n")):
            self.note(Part.SPOT, name=spot, area=area)

    def _show_text(self, name: str, operands: Any, state: _State) -> _State:
        if name in {"'", '"'}:
            if name == '"':
                state = replace(state, word_spacing=float(operands[0]), spacing=float(operands[1]))
            state = _next_row("T*", (), state)
        pieces = operands[-1] if isinstance(operands[-1], pikepdf.Array) else [operands[-1]]
        length = sum(self._measure_length(piece, state) for piece in pieces) * state.stretch
        self._note_text(length, state)
        return replace(state, text=times(state.text, (1.0, 0.0, 0.0, 1.0, length, 0.0)))

    def _measure_length(self, piece: Any, state: _State) -> float:
        if not isinstance(piece, pikepdf.String):
            return -float(piece) / 1000 * state.size
        text = bytes(piece)
        if state.font is None:
            return len(text) * state.size / 2
        return state.font.advance(text, state.size, state.spacing, state.word_spacing)

    def _note_text(self, length: float, state: _State) -> None:
        if state.mode in _INVISIBLE or not length:
            return
        self.has_letters = True
        matrix = times(state.matrix, state.text)
        low, high = state.rise, state.rise + ASCENT * state.size
        area = self._map_area(matrix, [(0, low), (length, low), (0, high), (length, high)])
        size = abs(state.size) * scale_of(matrix)
        color = state.fill if state.mode not in {1, 5} else state.stroke
        self._note_color(color, area, overprints=state.overprints_fill, keeps_zeros=state.keeps_zeros)
        if state.font_name:
            self.note(Part.FONT, name=state.font_name, is_embedded=False, area=area)
        if self._texts_left > 0 and not self._is_outside(area):
            self._texts_left -= 1
            values = color.values if color.kind in WHITES and not color.spot else ()
            self.parts.append(ArtworkPart(Part.TEXT, area, size, color=values))

    def _map_area(self, m: Matrix, points: list[tuple[float, float]]) -> Area:
        """Counted from the upper left corner, as everything else here."""
        return enclosing(
            (m[0] * x + m[2] * y + m[4], self._height - (m[1] * x + m[3] * y + m[5])) for x, y in points
        )


def _next_row(name: str, operands: Any, state: _State) -> _State:
    x, y = (0.0, -state.leading) if name == "T*" else (float(operands[0]), float(operands[1]))
    row = times(state.row, (1.0, 0.0, 0.0, 1.0, x, y))
    return replace(state, text=row, row=row, leading=-y if name == "TD" else state.leading)


def _blends(mode: Any) -> bool:
    """A list names other modes for programs that do not know the first."""
    first = mode[0] if isinstance(mode, pikepdf.Array) and len(mode) else mode
    return first is not None and str(first) not in {"/Normal", "/Compatible"}


def _picture_space(space: Any) -> str:
    """The color space, as Pillow names the mode."""
    is_palette = isinstance(space, pikepdf.Array) and str(space[0]) == "/Indexed"
    return {GRAY: "L", OF_RGB: "RGB", OF_CMYK: "CMYK"}.get(
        kind_of(space[1] if is_palette else space) or "", ""
    )
