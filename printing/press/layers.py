"""Removes the layers of a PDF that are not shown or not printed, and makes all others ordinary content."""

from collections.abc import Callable, Iterator
from typing import Any

import pikepdf

from printing.press.streams import Instruction

EXPRESSIONS_DEEP = 12
# What paints, and what takes its place in a hidden layer: a path must end, and a line of text must move on.
_INSTEAD: dict[str, str | None] = {
    **dict.fromkeys(("f", "F", "f*", "B", "B*", "b", "b*", "S", "s"), "n"),
    **dict.fromkeys(("Tj", "TJ", "Do", "sh", "INLINE IMAGE"), None),
    **dict.fromkeys(("'", '"'), "T*"),
}


def remove_hidden_layers(pdf: pikepdf.Pdf) -> None:
    """A layer is hidden that is off when the file is opened, or that its usage switches off for print or screen."""
    if isinstance(pdf.Root.get("/OCProperties"), pikepdf.Dictionary):
        _Layers(pdf).remove()
        del pdf.Root.OCProperties


class _Layers:
    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self._pdf = pdf
        properties = pdf.Root.OCProperties
        default = properties.get("/D", pikepdf.Dictionary())
        groups = list(properties.get("/OCGs", pikepdf.Array()))
        self._hidden = {group.objgen for group in default.get("/OFF", pikepdf.Array())}
        if str(default.get("/BaseState", "/ON")) == "/OFF":
            visible = {group.objgen for group in default.get("/ON", pikepdf.Array())}
            self._hidden |= {group.objgen for group in groups if group.objgen not in visible}
        viewed_groups = {
            group.objgen
            for event in default.get("/AS", pikepdf.Array())
            if str(event.get("/Event")) == "/View"
            for group in event.get("/OCGs", pikepdf.Array())
        }
        self._hidden |= {group.objgen for group in groups if _is_off(group, "/Print", "/PrintState")}
        self._hidden |= {
            group.objgen
            for group in groups
            if group.objgen in viewed_groups and _is_off(group, "/View", "/ViewState")
        }

    def remove(self) -> None:
        for page in self._pdf.pages:
            self._visit_annotations(page.obj)
            if "/Contents" in page.obj:
                page.contents_coalesce()
                self._rewrite_content(page.obj.Contents, page.obj.get("/Resources"))
        for item in list(self._pdf.objects):
            if isinstance(item, pikepdf.Stream):
                self._visit_stream(item)
            elif isinstance(item, pikepdf.Dictionary) and str(item.get("/Subtype")) == "/Type3":
                for glyph in item.get("/CharProcs", pikepdf.Dictionary()).values():
                    self._rewrite_content(glyph, item.get("/Resources"))
        for page in self._pdf.pages:
            _drop_names(page.obj.get("/Resources"))
        for item in self._pdf.objects:
            if isinstance(item, pikepdf.Dictionary | pikepdf.Stream):
                _drop_names(item.get("/Resources"))

    def _visit_annotations(self, page: Any) -> None:
        if "/Annots" in page:
            page.Annots = pikepdf.Array(
                [annotation for annotation in page.Annots if self._is_shown(annotation.get("/OC"))]
            )

    def _visit_stream(self, stream: pikepdf.Stream) -> None:
        if "/OC" in stream:
            is_shown = self._is_shown(stream.OC)
            del stream.OC
            if not is_shown:
                _empty_form(stream)
                return
        if str(stream.get("/Subtype")) == "/Form" or stream.get("/PatternType") == 1:
            self._rewrite_content(stream, stream.get("/Resources"))

    def _rewrite_content(self, stream: Any, resources: Any) -> None:
        if resources is None or "/Properties" not in resources:
            return
        properties = resources.Properties
        if b"BDC" in stream.read_bytes():
            visible = self._visible_content(pikepdf.parse_content_stream(stream), properties)
            stream.write(pikepdf.unparse_content_stream(list(visible)))

    def _visible_content(self, content: list[Instruction], properties: Any) -> Iterator[Instruction]:
        """The content without what hidden layers paint; their other instructions hold for what follows them."""
        marks: list[bool] = []
        for instruction in content:
            name = str(instruction.operator)
            if name in {"BMC", "BDC"}:
                is_layer = name == "BDC" and str(instruction.operands[0]) == "/OC"
                marks.append(
                    is_layer and not self._is_shown(_find_property(properties, instruction.operands[1]))
                )
                yield _make_instruction("BMC", instruction.operands[0]) if is_layer else instruction
                continue
            if name == "EMC" and marks:
                marks.pop()
            if not any(marks) or name not in _INSTEAD:
                yield instruction
            elif (replacement := _INSTEAD[name]) is not None:
                if name == '"':
                    yield _make_instruction("Tw", instruction.operands[0])
                    yield _make_instruction("Tc", instruction.operands[1])
                yield _make_instruction(replacement)

    def _is_shown(self, content: Any) -> bool:
        """Whether a layer, or a rule about layers (OCMD), shows its content."""
        if not isinstance(content, pikepdf.Dictionary):
            return True
        if str(content.get("/Type")) != "/OCMD":
            return content.objgen not in self._hidden
        if isinstance(rule := content.get("/VE"), pikepdf.Array):
            return self._is_met(rule, 0)
        groups = content.get("/OCGs", pikepdf.Array())
        layers = list(groups) if isinstance(groups, pikepdf.Array) else [groups]
        states = [self._is_shown(group) for group in layers if isinstance(group, pikepdf.Dictionary)]
        policies: dict[str, Callable[[], bool]] = {
            "/AllOn": lambda: all(states),
            "/AnyOff": lambda: not all(states),
            "/AllOff": lambda: not any(states),
        }
        return not states or policies.get(str(content.get("/P")), lambda: any(states))()

    def _is_met(self, rule: Any, depth: int) -> bool:
        if not isinstance(rule, pikepdf.Array):
            return self._is_shown(rule)
        if depth > EXPRESSIONS_DEEP or len(rule) < 2:
            return True
        parts = [self._is_met(rule[index], depth + 1) for index in range(1, len(rule))]
        operator = str(rule[0])
        return not parts[0] if operator == "/Not" else all(parts) if operator == "/And" else any(parts)


def _is_off(group: Any, usage: str, state: str) -> bool:
    used = group.get("/Usage", pikepdf.Dictionary()).get(usage, pikepdf.Dictionary())
    return str(used.get(state)) == "/OFF"


def _drop_names(resources: Any) -> None:
    """Layers of resources; what other programs note there stays."""
    properties = resources.get("/Properties") if isinstance(resources, pikepdf.Dictionary) else None
    if isinstance(properties, pikepdf.Dictionary):
        for key in list(properties.keys()):
            if str(properties[key].get("/Type")) in {"/OCG", "/OCMD"}:
                del properties[key]


def _find_property(properties: Any, operand: Any) -> Any:
    return properties.get(str(operand)) if isinstance(operand, pikepdf.Name) else operand


def _make_instruction(operator: str, *operands: Any) -> Instruction:
    return pikepdf.ContentStreamInstruction(list(operands), pikepdf.Operator(operator))


def _empty_form(stream: pikepdf.Stream) -> None:
    """A form that draws nothing, also in place of a picture."""
    for key in [key for key in stream.keys() if key != "/Length"]:  # noqa: SIM118 - a stream is no dict
        del stream[key]
    stream.write(b"")
    stream.Type, stream.Subtype = pikepdf.Name.XObject, pikepdf.Name.Form
    stream.BBox = pikepdf.Array([0, 0, 0, 0])
