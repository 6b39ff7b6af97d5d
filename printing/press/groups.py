"""Takes groups apart that the renderer of proofs draws in another way than a press: it isolates all of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pikepdf

from printing.press.objects import get_dictionary, is_plain, resources_of_kind, states_of

_FOLLOWED = "q Q gs Do"


def open_groups(pdf: pikepdf.Pdf) -> None:
    """Groups that are neither isolated nor knock out look the same without their group, if they are drawn plainly."""
    masks = {mask.G.objgen for mask in map(mask_of, states_of(pdf)) if mask is not None}
    groups = [form for form in pdf.objects if _is_open(form) and form.objgen not in masks]
    if groups:
        drawing = _Drawing()
        drawing.run(pdf)
        for form in groups:
            if form.objgen not in drawing.mixed:
                del form.Group


def mask_of(state: Any) -> Any:
    mask = state.get("/SMask")
    return mask if isinstance(mask, pikepdf.Dictionary) and "/G" in mask else None


@dataclass(frozen=True, slots=True)
class _State:
    """The part of the state that makes a group more than the sum of what it draws."""

    is_clear: bool = False
    is_blending: bool = False
    is_masked: bool = False
    # Lines in a group are not: without their group they would be.
    is_clear_in_lines: bool = False

    @property
    def mixes(self) -> bool:
        return self.is_clear or self.is_blending or self.is_masked or self.is_clear_in_lines

    def after(self, changes: Any) -> "_State":
        state = self
        if "/ca" in changes:
            state = replace(state, is_clear=float(changes.ca) < 1)
        if "/CA" in changes:
            state = replace(state, is_clear_in_lines=float(changes.CA) < 1)
        if "/BM" in changes:
            state = replace(state, is_blending=not is_plain(changes))
        if "/SMask" in changes:
            state = replace(state, is_masked=isinstance(changes.SMask, pikepdf.Dictionary))
        return state


class _Drawing:
    """Follows each stream once for each state in which it begins; `mixed` are the groups that are mixed as a whole."""

    def __init__(self) -> None:
        self.mixed: set[tuple[int, int]] = set()
        self._pending: list[tuple[Any, Any, _State]] = []
        self._visited: set[tuple[tuple[int, int], _State]] = set()

    def run(self, pdf: pikepdf.Pdf) -> None:
        for page in pdf.pages:
            self._pending.append((page, page.obj.get("/Resources"), _State()))
        while self._pending:
            stream, resources, state = self._pending.pop()
            if isinstance(resources, pikepdf.Dictionary):
                self._visit_others(resources)
                if "/XObject" in resources:
                    self._visit_stream(stream, resources, state)

    def _visit_stream(self, stream: Any, resources: Any, state: _State) -> None:
        stack: list[_State] = []
        for instruction in pikepdf.parse_content_stream(stream, _FOLLOWED):
            name = str(instruction.operator)
            if name == "q":
                stack.append(state)
            elif name == "Q":
                state = stack.pop() if stack else state
            elif instruction.operands:
                kind = "/ExtGState" if name == "gs" else "/XObject"
                resource = get_dictionary(resources, kind).get(str(instruction.operands[0]))
                if name == "gs" and isinstance(resource, pikepdf.Dictionary):
                    state = state.after(resource)
                elif name == "Do" and isinstance(resource, pikepdf.Stream):
                    self._visit_form(resource, state)

    def _visit_form(self, form: Any, state: _State) -> None:
        if "/Group" in form:
            if state.mixes:
                self.mixed.add(form.objgen)
            state = _State()
        self._add_stream(form, form, state)

    def _visit_others(self, resources: Any) -> None:
        """Patterns and masks begin anew. Letters are drawn in any state, so the forms in them may be mixed."""
        for state in resources_of_kind(resources, "/ExtGState"):
            if (mask := mask_of(state)) is not None:
                self._add_stream(mask.G, mask.G, _State())
        for pattern in resources_of_kind(resources, "/Pattern"):
            self._add_stream(pattern, pattern, _State())
        for font in resources_of_kind(resources, "/Font"):
            for glyph in _list_glyphs(font):
                self._add_stream(glyph, font, _State(is_clear=True))

    def _add_stream(self, stream: Any, holder: Any, state: _State) -> None:
        if isinstance(stream, pikepdf.Stream) and (stream.objgen, state) not in self._visited:
            self._visited.add((stream.objgen, state))
            self._pending.append((stream, holder.get("/Resources"), state))


def _list_glyphs(font: Any) -> Iterator[Any]:
    if isinstance(font, pikepdf.Dictionary):
        yield from font.get("/CharProcs", pikepdf.Dictionary()).values()


def _is_open(item: Any) -> bool:
    group = item.get("/Group") if isinstance(item, pikepdf.Stream) else None
    return isinstance(group, pikepdf.Dictionary) and not group.get("/I", False) and not group.get("/K", False)
