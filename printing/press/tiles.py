"""Tiles as the renderer of proofs draws them: with colors of their own, and half-clear themselves.

It takes the colors of other tiles for RGB, and draws opaque what is filled with tiles half-clear.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import pikepdf

from printing.press.objects import drop, get_dictionary, resources_of_kind, streams_of
from printing.press.streams import IDENTITY, PAINTING, Instruction, Matrix, matrix_from, times

# What sets a color, by the opacity that holds for it.
_COLORS = {"/ca": ("g", "rg", "k", "cs", "sc", "scn"), "/CA": ("G", "RG", "K", "CS", "SC", "SCN")}
# Drawn with the opacity, but not with the color.
_DRAWN = frozenset({"Do", "sh", "INLINE IMAGE"})
# The limits of a stream that is taken apart, which takes 80 times as much memory, and of all of them, which takes 0.3 s
# for each megabyte. Others stay as they are.
STREAM_BYTES, CONTENT_BYTES = 2 << 20, 4 << 20
_OF_STREAMS = frozenset({"/Length", "/Filter", "/DecodeParms", "/Resources"})


def color_tiles(pdf: pikepdf.Pdf, holders: list[Any]) -> None:
    """Gives tiles the colors that they are drawn with; those of a form that inherits its color stay as they are."""
    owners = [owner for owner in reversed(holders) if _uncolored(owner.Resources)]
    colorings = [_Coloring(pdf, owner.Resources) for owner in owners]
    if rewrite_streams(pdf, zip(owners, (coloring.run for coloring in colorings), strict=True)):
        left = {name for coloring in colorings for name in coloring.left}
        for owner in owners:
            drop(owner.Resources.Pattern, *set(_uncolored(owner.Resources)) - left)


def fade_tiles(pdf: pikepdf.Pdf, holders: list[Any]) -> None:
    """Fades the tiles of each stream by itself: the opacity around a form is not followed into it."""
    # Tiles within a tile come before it, because it is copied.
    work = ((owner, key) for owner in reversed(holders) for key in _faded_keys(owner))
    rewrite_streams(pdf, ((owner, _Fading(pdf, owner.Resources, key).run) for owner, key in work))


def bound_tiles(pdf: pikepdf.Pdf, holders: list[Any]) -> None:
    """Says the bounds in tiles and forms, because the renderer takes those of the page for those of tiles.

    It bounds `sh` by what is clipped around them, and omits clips to rectangles that would cover the page.
    """
    patterns = (pattern for holder in holders for pattern in resources_of_kind(holder.Resources, "/Pattern"))
    if any(map(_is_tile, patterns)):
        owners = (holder for holder in holders if "/BBox" in holder)
        rewrite_streams(pdf, ((owner, partial(_bound, owner)) for owner in owners))


def rewrite_streams(
    pdf: pikepdf.Pdf, work: Iterable[tuple[Any, Callable[..., Iterator[Instruction]]]]
) -> bool:
    """Whether there was memory and time for all of it."""
    remaining_bytes, is_whole = CONTENT_BYTES, True
    for holder, rewrite in work:
        for stream in streams_of(holder):
            content = content_of(stream)
            if content is None:
                continue
            size = len(content.read_bytes())
            if size > min(STREAM_BYTES, remaining_bytes):
                is_whole = False
                continue
            remaining_bytes -= size
            output = pikepdf.unparse_content_stream(list(rewrite(pikepdf.parse_content_stream(content))))
            if stream is content:
                stream.write(output)
            else:
                # Other pages may have the same stream with other resources.
                stream.Contents = pdf.make_stream(output)
    return is_whole


def _uncolored(resources: Any) -> dict[str, Any]:
    """Tiles that are drawn in the color that is set with them."""
    patterns = get_dictionary(resources, "/Pattern").items()
    return {name: tile for name, tile in patterns if _has_paint(tile, 2)}


def _faded_keys(holder: Any) -> list[str]:
    """The kinds of opacity, for fills or strokes, that may fade tiles in the streams of the holder."""
    if not any(map(_is_tile, resources_of_kind(holder.Resources, "/Pattern"))):
        return []
    states = list(resources_of_kind(holder.Resources, "/ExtGState"))
    return [key for key in _COLORS if any(float(state.get(key, 1)) < 1 for state in states)]


def content_of(stream: Any) -> pikepdf.Stream | None:
    """The stream itself, or the joined content of a page; None for a page without content."""
    if isinstance(stream, pikepdf.Stream):
        return stream
    pikepdf.Page(stream).contents_coalesce()
    content = stream.get("/Contents")
    return content if isinstance(content, pikepdf.Stream) else None


def _bound(owner: Any, content: list[Instruction]) -> Iterator[Instruction]:
    matrix, stack = IDENTITY, list[Matrix]()
    point: Any = None
    for number, instruction in enumerate(content):
        name, operand = str(instruction.operator), str(next(iter(instruction.operands), ""))
        if name == "q":
            stack.append(matrix)
        elif name == "Q" and stack:
            matrix = stack.pop()
        elif name == "cm":
            matrix = times(matrix, matrix_from(instruction.operands))
        elif name in {"m", "l", "c", "re"}:
            point = instruction.operands[:2]
        elif name in PAINTING:
            point = None
        elif name in {"W", "W*"} and point is not None:
            # With a point of its own, a rectangle is not one for the renderer.
            yield pikepdf.ContentStreamInstruction(point, pikepdf.Operator("m"))
        shading = get_dictionary(owner.Resources, "/Shading").get(operand) if name == "sh" else None
        # With a background, `sh` and a fill are not the same.
        if shading is None or "/Background" in shading or not matrix[0] * matrix[3] - matrix[1] * matrix[2]:
            yield instruction
            continue
        pattern = pikepdf.Name(f"{operand}Of{owner.objgen[0]}At{number}")
        filled = pikepdf.Dictionary(PatternType=2, Shading=shading, Matrix=pikepdf.Array(list(matrix)))
        if "/Pattern" not in owner.Resources:
            owner.Resources.Pattern = pikepdf.Dictionary()
        owner.Resources.Pattern[pattern] = filled
        yield from _fill_with(pattern, owner.BBox, pikepdf.Matrix(*matrix).inverse())


def _fill_with(pattern: pikepdf.Name, box: Any, inverse: pikepdf.Matrix) -> Iterator[Instruction]:
    left, bottom, right, top = map(float, box)
    steps: tuple[tuple[list[Any], str], ...] = (
        ([], "q"),
        (list(inverse.shorthand), "cm"),
        ([pikepdf.Name.Pattern], "cs"),
        ([pattern], "scn"),
        ([left, bottom, right - left, top - bottom], "re"),
        ([], "f"),
        ([], "Q"),
    )
    for operands, operator in steps:
        yield pikepdf.ContentStreamInstruction(operands, pikepdf.Operator(operator))


class _Coloring:
    """Draws a tile for each color in which it is drawn; `left` are the tiles whose color is not known here."""

    def __init__(self, pdf: pikepdf.Pdf, resources: Any) -> None:
        self._pdf, self._resources = pdf, resources
        self._tiles, self._names = _uncolored(resources), dict[tuple[str, bytes], str]()
        self._shapes: dict[str, bytes] = {}
        self.left: set[str] = set()

    def run(self, content: list[Instruction]) -> Iterator[Instruction]:
        # The color spaces for fills and for strokes.
        current: dict[str, Any] = {}
        stack: list[dict[str, Any]] = []
        spaces = get_dictionary(self._resources, "/ColorSpace")
        for instruction in content:
            name, operands = str(instruction.operator), list(instruction.operands)
            if name == "q":
                stack.append(dict(current))
            elif name == "Q" and stack:
                current = stack.pop()
            elif name in {"cs", "CS"} and operands:
                current[name[0]] = spaces.get(str(operands[0]))
            elif name in {"scn", "SCN"} and operands and str(operands[-1]) in self._tiles:
                space = current.get("c" if name == "scn" else "C")
                if isinstance(space, pikepdf.Array) and len(space) == 2:
                    yield _instruct(pikepdf.Name.Pattern, "cs" if name == "scn" else "CS")
                    instruction = _instruct(self._name_tile(operands, space), name)
                else:
                    self.left.add(str(operands[-1]))
            yield instruction

    def _name_tile(self, operands: list[Any], space: pikepdf.Array) -> pikepdf.Name:
        key = str(operands), space.unparse()
        if key not in self._names:
            self._names[key] = name = f"{operands[-1]}Color{len(self._resources.Pattern)}"
            self._resources.Pattern[name] = self._color_tile(operands, space[1])
        return pikepdf.Name(self._names[key])

    def _color_tile(self, operands: list[Any], space: Any) -> pikepdf.Stream:
        """The tile after its color is set for fills and strokes; it sets none itself."""
        tile = self._tiles[str(operands[-1])]
        own = [pikepdf.Name.Own]
        setters = [
            pikepdf.ContentStreamInstruction(values, pikepdf.Operator(operator))
            for values, operator in ((own, "cs"), (own, "CS"), (operands[:-1], "scn"), (operands[:-1], "SCN"))
        ]
        shapes = self._shapes_of(str(operands[-1]))
        colored = self._pdf.make_stream(pikepdf.unparse_content_stream(setters) + b"\n" + shapes)
        for name in set(tile.keys()) - _OF_STREAMS:
            colored[name] = tile[name]
        colored.PaintType = 1
        colored.Resources = pikepdf.Dictionary(tile.get("/Resources", pikepdf.Dictionary()))
        colored.Resources.ColorSpace = pikepdf.Dictionary(
            {**get_dictionary(colored.Resources, "/ColorSpace"), "/Own": space}
        )
        return colored

    def _shapes_of(self, tile: str) -> bytes:
        if tile not in self._shapes:
            setters = {operator for operators in _COLORS.values() for operator in operators}
            content = pikepdf.parse_content_stream(self._tiles[tile])
            shapes = [instruction for instruction in content if str(instruction.operator) not in setters]
            self._shapes[tile] = pikepdf.unparse_content_stream(shapes)
        return self._shapes[tile]


class _Fading:
    """While tiles are the color, they are faded themselves, and the opacity is 1."""

    def __init__(self, pdf: pikepdf.Pdf, resources: Any, key: str) -> None:
        self._pdf, self._resources, self._key = pdf, resources, key
        self._opacity, self._tile = 1.0, ""
        self._stack: list[tuple[float, str]] = []

    def run(self, content: list[Instruction]) -> Iterator[Instruction]:
        for instruction in content:
            before, name = self._fades, str(instruction.operator)
            if before and name in _DRAWN:
                yield self._set_opacity(self._opacity)
            yield instruction
            if name == "q":
                self._stack.append((self._opacity, self._tile))
            elif name == "Q" and self._stack:
                self._opacity, self._tile = self._stack.pop()
            elif name in _DRAWN and before:
                yield self._set_opacity(1)
            elif self._follow_state(instruction, name) and (before or self._fades):
                yield self._set_opacity(1 if self._fades else self._opacity)
                if self._tile:
                    yield self._set_tile()

    @property
    def _fades(self) -> bool:
        return bool(self._tile) and self._opacity < 1

    def _follow_state(self, instruction: Instruction, name: str) -> bool:
        """Whether the instruction sets the opacity or the color."""
        operand = ""
        if name in {"gs", "scn", "SCN"} and instruction.operands:
            operand = str(instruction.operands[-1])
        if name == "gs":
            state = get_dictionary(self._resources, "/ExtGState").get(operand, pikepdf.Dictionary())
            self._opacity = float(state.get(self._key, self._opacity))
            return self._key in state
        if name not in _COLORS[self._key]:
            return False
        tile = get_dictionary(self._resources, "/Pattern").get(operand)
        self._tile = operand if _is_tile(tile) else ""
        return True

    def _set_opacity(self, opacity: float) -> Instruction:
        name = f"/Opacity{self._key[1:]}{opacity:g}"
        self._resources.ExtGState[name] = pikepdf.Dictionary({self._key: opacity})
        return _instruct(pikepdf.Name(name), "gs")

    def _set_tile(self) -> Instruction:
        name, patterns = self._tile, self._resources.Pattern
        if self._fades and (name := f"{self._tile}Opacity{self._opacity:g}") not in patterns:
            patterns[name] = self._fade_tile(patterns[self._tile])
        return _instruct(pikepdf.Name(name), _COLORS[self._key][-1])

    def _fade_tile(self, tile: Any) -> pikepdf.Stream:
        form = self._pdf.make_stream(tile.read_bytes(), Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form)
        form.BBox, form.Resources = tile.BBox, tile.get("/Resources", pikepdf.Dictionary())
        form.Group = pikepdf.Dictionary(S=pikepdf.Name.Transparency, I=True)
        faded = self._pdf.make_stream(b"/Faded gs /Tile Do")
        for key in set(tile.keys()) - _OF_STREAMS:
            faded[key] = tile[key]
        state = pikepdf.Dictionary(ca=self._opacity)
        faded.Resources = pikepdf.Dictionary(XObject={"/Tile": form}, ExtGState={"/Faded": state})
        return faded


def _is_tile(pattern: Any) -> bool:
    """Whether it has colors of its own, and the box without which nothing draws it."""
    return _has_paint(pattern, 1)


def _has_paint(pattern: Any, kind: int) -> bool:
    return isinstance(pattern, pikepdf.Stream) and pattern.get("/PaintType") == kind and "/BBox" in pattern


def _instruct(name: pikepdf.Name, operator: str) -> Instruction:
    return pikepdf.ContentStreamInstruction([name], pikepdf.Operator(operator))
