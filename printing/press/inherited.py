"""Forms that are drawn half-clear without a group, as the renderer of proofs needs them: they name the opacity."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pikepdf

from printing.press.objects import Visited, forms_of, get_dictionary, has_half_clear_state, resources_of_kind
from printing.press.streams import Instruction
from printing.press.tiles import rewrite_streams

_KEYS = ("/ca", "/CA")
Opacities = tuple[float, float]


def name_opacities(pdf: pikepdf.Pdf, holders: list[Any]) -> None:
    """Forms with tiles or stencils have the opacity of what draws them as a state of their own."""
    owners = [
        owner
        for owner in holders
        if has_half_clear_state(owner.Resources, *_KEYS)
        and any(map(_is_drawn_otherwise, forms_of(owner.Resources)))
    ]
    naming = _Naming(pdf, owners)
    # The list grows by the new forms.
    rewrite_streams(pdf, ((owner, partial(naming.run, owner.Resources)) for owner in owners))


class _Naming:
    def __init__(self, pdf: pikepdf.Pdf, owners: list[Any]) -> None:
        self._pdf, self._owners = pdf, owners
        self._forms: dict[tuple[tuple[int, int], Opacities], pikepdf.Stream] = {}

    def run(self, resources: Any, content: list[Instruction]) -> Iterator[Instruction]:
        states, xobjects = get_dictionary(resources, "/ExtGState"), get_dictionary(resources, "/XObject")
        drawn_otherwise = {key for key, form in xobjects.items() if _is_drawn_otherwise(form)}
        opacities, stack = (1.0, 1.0), list[Opacities]()
        for instruction in content:
            name, operand = str(instruction.operator), str(["", *instruction.operands][-1])
            if name == "q":
                stack.append(opacities)
            elif name == "Q" and stack:
                opacities = stack.pop()
            elif name == "gs" and operand in states:
                fill, stroke = (
                    float(states[operand].get(key, before))
                    for key, before in zip(_KEYS, opacities, strict=True)
                )
                opacities = fill, stroke
            elif name == "Do" and min(opacities) < 1 and operand in drawn_otherwise:
                new = f"{operand}Opacity{opacities[0]:g}And{opacities[1]:g}"
                xobjects[new] = self._form_with(xobjects[operand], opacities)
                instruction = pikepdf.ContentStreamInstruction([pikepdf.Name(new)], instruction.operator)
            yield instruction

    def _form_with(self, form: Any, opacities: Opacities) -> pikepdf.Stream:
        key = form.objgen, opacities
        if key not in self._forms:
            self._forms[key] = copy = self._pdf.make_stream(b"/Around gs\n" + form.read_bytes())
            for entry in set(form.keys()) - {"/Length", "/Filter", "/DecodeParms"}:
                copy[entry] = form[entry]
            copy.Resources = pikepdf.Dictionary(form.Resources)
            states = {**get_dictionary(form.Resources, "/ExtGState")}
            around = pikepdf.Dictionary(dict(zip(_KEYS, opacities, strict=True)))
            copy.Resources.ExtGState = pikepdf.Dictionary({**states, "/Around": around})
            if any(map(_is_drawn_otherwise, forms_of(copy.Resources))):
                self._owners.append(copy)
        return self._forms[key]


def _is_drawn_otherwise(form: Any) -> bool:
    """Whether it is a form without a group, with tiles or stencils in it or in its forms."""
    if not isinstance(form, pikepdf.Stream) or "/Group" in form:
        return False
    visited, pending = Visited(), [form]
    while pending:
        resources = pending.pop().get("/Resources", pikepdf.Dictionary())
        tiles = (isinstance(tile, pikepdf.Stream) for tile in resources_of_kind(resources, "/Pattern"))
        stencils = (picture.get("/ImageMask") is True for picture in resources_of_kind(resources, "/XObject"))
        if any(tiles) or any(stencils):
            return True
        pending += [inner for inner in forms_of(resources) if visited.is_new(inner)]
    return False
