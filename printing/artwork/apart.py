"""What a PDF prints by patterns, masks and letters that are drawn: their fonts, and the colors of all but masks."""

from collections.abc import Iterator
from typing import Any

import pikepdf

from printing.artwork.parts import Part
from printing.artwork.pdf_content import left_in_color, spots_of
from printing.press.objects import Visited, drawn_apart, forms_of, get_dictionary, streams_of

# The tables of characters that need not be embedded. The renderer of proofs has no others.
_BUILT_IN_TABLES = frozenset({"/Identity-H", "/Identity-V"})


def missing_font(font: Any) -> str:
    """The font's name, with the table of characters if only that is missing; empty if it is embedded or drawn."""
    name = str(font.get("/BaseFont", "/?"))[1:].rpartition("+")[2]
    if font.get("/Subtype") == "/Type3":
        return ""
    if not _is_embedded(font):
        return name
    table = font.get("/Encoding")
    is_missing = "/DescendantFonts" in font and isinstance(table, pikepdf.Name)
    return f"{name} ({str(table)[1:]})" if is_missing and str(table) not in _BUILT_IN_TABLES else ""


def find_parts_apart(resources: Any, visited: Visited) -> Iterator[tuple[Part, str]]:
    """The names of fonts that are not embedded, of spot colors, and of what stays in color; of forms within as well."""
    pending = [(thing, _is_form(thing)) for thing in drawn_apart(resources)]
    while pending:
        holder, is_masking = pending.pop()
        # A holder is known by its streams, because a font without a number is met anew in its own resources.
        streams = [stream for stream in streams_of(holder) if visited.is_new(stream)]
        if "/Resources" not in holder or not streams:
            continue
        inner = holder.Resources
        for font in _used_by(streams, "Tf", get_dictionary(inner, "/Font")):
            if name := missing_font(font):
                yield Part.FONT, name
        if not is_masking:
            yield from ((Part.LEFT_IN_COLOR, name) for name in left_in_color(inner))
            for space in _used_by(streams, "cs CS", get_dictionary(inner, "/ColorSpace")):
                yield from ((Part.SPOT, name) for name in spots_of(space).split("\n") if name)
        pending += [(form, is_masking) for form in forms_of(inner)]
        pending += [(thing, is_masking or _is_form(thing)) for thing in drawn_apart(inner)]


def _is_form(holder: Any) -> bool:
    """A mask is one, and no pattern and no font is."""
    return str(holder.get("/Subtype")) == "/Form"


def _used_by(streams: list[Any], operators: str, resources: Any) -> Iterator[Any]:
    """The resources of this kind that the operators name."""
    if not resources:
        return
    for stream in streams:
        for instruction in pikepdf.parse_content_stream(stream, operators):
            names = instruction.operands[:1]
            if names and (resource := resources.get(str(names[0]))) is not None:
                yield resource


def _is_embedded(font: Any) -> bool:
    inner = font["/DescendantFonts"][0] if "/DescendantFonts" in font else font
    descriptor = inner.get("/FontDescriptor", pikepdf.Dictionary())
    return any(key in descriptor for key in ("/FontFile", "/FontFile2", "/FontFile3"))
