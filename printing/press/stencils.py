"""Stencils, pictures of one color, as the renderer of proofs draws them: those that are half-clear twice as clear."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pikepdf

from printing.press.objects import get_dictionary, has_half_clear_state, resources_of_kind
from printing.press.streams import Instruction
from printing.press.tiles import rewrite_streams

_COLORS = frozenset({"g", "rg", "k", "cs"})
_BLACK = pikepdf.ContentStreamInstruction([0], pikepdf.Operator("g"))


def group_stencils(pdf: pikepdf.Pdf, holders: list[Any]) -> None:
    """Draws half-clear stencils in groups. Those in a color of around their form, or in a pattern, stay as they are."""
    owners = (holder for holder in holders if _has_half_clear_stencil(holder.Resources))
    rewrite_streams(pdf, ((owner, partial(_group, pdf, owner)) for owner in owners))


def _has_half_clear_stencil(resources: Any) -> bool:
    return has_half_clear_state(resources, "/ca") and any(
        map(_is_stencil, resources_of_kind(resources, "/XObject"))
    )


def _is_stencil(picture: Any) -> bool:
    return isinstance(picture, pikepdf.Stream) and picture.get("/ImageMask") is True


def _group(pdf: pikepdf.Pdf, owner: Any, content: list[Instruction]) -> Iterator[Instruction]:
    states, xobjects = get_dictionary(owner.Resources, "/ExtGState"), owner.Resources.XObject
    opacity, color = 1.0, list[Instruction]([_BLACK] if owner.get("/Type") == "/Page" else [])
    stack: list[tuple[float, list[Instruction]]] = []
    for instruction in content:
        name, operand = str(instruction.operator), str(["", *instruction.operands][-1])
        if name == "q":
            stack.append((opacity, color))
        elif name == "Q" and stack:
            opacity, color = stack.pop()
        elif name == "gs" and operand in states:
            opacity = float(states[operand].get("/ca", opacity))
        elif name in _COLORS:
            color = [instruction]
        elif name in {"sc", "scn"}:
            color = [] if operand.startswith("/") else [*color[:1], instruction]
        elif name == "Do" and opacity < 1 and color and _is_stencil(xobjects.get(operand)):
            form = _form_of(pdf, owner.Resources, xobjects[operand], color)
            xobjects[group := f"{operand}Group{len(xobjects)}"] = form
            instruction = pikepdf.ContentStreamInstruction([pikepdf.Name(group)], instruction.operator)
        yield instruction


def _form_of(pdf: pikepdf.Pdf, resources: Any, stencil: Any, color: list[Instruction]) -> pikepdf.Stream:
    """The stencil in its color: Ghostscript draws groups in black that set none."""
    content = pikepdf.unparse_content_stream(color) + b"\n/Stencil Do"
    form = pdf.make_stream(content, Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form, BBox=[0, 0, 1, 1])
    form.Group = pikepdf.Dictionary(S=pikepdf.Name.Transparency, I=True)
    spaces = get_dictionary(resources, "/ColorSpace")
    form.Resources = pikepdf.Dictionary(ColorSpace=spaces, XObject=pikepdf.Dictionary(Stencil=stencil))
    return form
