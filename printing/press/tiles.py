"""Makes half-clear what is filled with tiles, tile by tile: the renderer of proofs draws such tiles opaque."""

from collections.abc import Iterator
from typing import Any

import pikepdf

from printing.press.objects import get_dictionary, resources_of_kind, streams_of
from printing.press.streams import Instruction

# What sets a color, by the opacity that holds for it.
_COLORS = {"/ca": ("g", "rg", "k", "cs", "sc", "scn"), "/CA": ("G", "RG", "K", "CS", "SC", "SCN")}
# Drawn with the opacity, but not with the color.
_DRAWN = frozenset({"Do", "sh", "INLINE IMAGE"})
# Of all streams that are taken apart, which takes 80 times as much memory. The others stay as they are.
CONTENT_BYTES = 2 << 20
_OF_STREAMS = frozenset({"/Length", "/Filter", "/DecodeParms", "/Resources"})


def fade_tiles(pdf: pikepdf.Pdf, holders: list[Any]) -> None:
    """Fades the tiles of each stream by itself: the opacity around a form is not followed into it."""
    remaining_bytes = CONTENT_BYTES
    # Tiles within a tile come before it, because it is copied.
    work = ((owner, key) for owner in reversed(holders) for key in _faded_keys(owner))
    for holder, key in work:
        for stream in streams_of(holder):
            content = _content_of(stream)
            if content is None:
                continue
            remaining_bytes -= len(content.read_bytes())
            if remaining_bytes < 0:
                return
            faded = _Fading(pdf, holder.Resources, key).run(pikepdf.parse_content_stream(content))
            output = pikepdf.unparse_content_stream(list(faded))
            if stream is content:
                stream.write(output)
            else:
                # Other pages may have the same stream with other resources.
                stream.Contents = pdf.make_stream(output)


def _faded_keys(holder: Any) -> list[str]:
    """The kinds of opacity, for fills or strokes, that may fade tiles in the streams of the holder."""
    if not any(map(_is_tile, resources_of_kind(holder.Resources, "/Pattern"))):
        return []
    states = list(resources_of_kind(holder.Resources, "/ExtGState"))
    return [key for key in _COLORS if any(float(state.get(key, 1)) < 1 for state in states)]


def _content_of(stream: Any) -> pikepdf.Stream | None:
    """The stream itself, or the joined content of a page; None for a page without content."""
    if isinstance(stream, pikepdf.Stream):
        return stream
    pikepdf.Page(stream).contents_coalesce()
    content = stream.get("/Contents")
    return content if isinstance(content, pikepdf.Stream) else None


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
        return pikepdf.ContentStreamInstruction([pikepdf.Name(name)], pikepdf.Operator("gs"))

    def _set_tile(self) -> Instruction:
        name, patterns = self._tile, self._resources.Pattern
        if self._fades and (name := f"{self._tile}Opacity{self._opacity:g}") not in patterns:
            patterns[name] = self._fade_tile(patterns[self._tile])
        operator = pikepdf.Operator(_COLORS[self._key][-1])
        return pikepdf.ContentStreamInstruction([pikepdf.Name(name)], operator)

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
    return isinstance(pattern, pikepdf.Stream) and pattern.get("/PaintType") == 1 and "/BBox" in pattern
