"""Plates of tools instead of inks, such as die lines and creases: they overprint.

A line that knocked out would leave a white gap in the inks below it, which shows after the cut.
"""

import re
from collections.abc import Iterator
from typing import Any

import pikepdf

from printing.press.streams import DEVICES, STROKING, Instruction

# The names that printers and programs ask for, in small letters alone.
_TOOLS = re.compile(
    "(perf)?cut(contour|line)?|(die|kiss|thru|through)cut|die(line)?|(crease|fold|score)(line)?|perf(oration)?"
)


def is_tool(plate: str) -> bool:
    return _TOOLS.fullmatch(re.sub(r"[^a-z]", "", plate.lower())) is not None


def overprint_tools(pdf: pikepdf.Pdf) -> None:
    """Call it once nothing else overprints."""
    for page in pdf.pages:
        if "/Contents" in page.obj and _find_tools(page.obj.get("/Resources")):
            page.contents_coalesce()
            _overprint_tools(pdf, page.obj.Contents, page.obj.Resources)
    for stream in list(pdf.objects):
        if isinstance(stream, pikepdf.Stream) and _find_tools(stream.get("/Resources")):
            _overprint_tools(pdf, stream, stream.Resources)


def _find_tools(resources: Any) -> set[str]:
    """The color spaces of tools, by their names there."""
    spaces = resources.get("/ColorSpace") if isinstance(resources, pikepdf.Dictionary) else None
    if not isinstance(spaces, pikepdf.Dictionary):
        return set()
    return {
        name
        for name, space in spaces.items()
        if isinstance(space, pikepdf.Array) and str(space[0]) == "/Separation" and is_tool(str(space[1])[1:])
    }


def _overprint_tools(pdf: pikepdf.Pdf, stream: Any, resources: Any) -> None:
    if "/ExtGState" not in resources:
        resources.ExtGState = pikepdf.Dictionary()
    parts = list(
        _insert_states(pikepdf.parse_content_stream(stream), _find_tools(resources), resources.ExtGState)
    )
    stream.write(pikepdf.unparse_content_stream(parts))


def _insert_states(content: list[Instruction], tools: set[str], states: Any) -> Iterator[Instruction]:
    """A form begins with the state of what draws it, so none is drawn while something overprints."""
    fills = strokes = False
    stack: list[tuple[bool, bool]] = []
    for instruction in content:
        name, before = str(instruction.operator), (fills, strokes)
        if name == "q":
            stack.append(before)
        elif name == "Q" and stack:
            fills, strokes = stack.pop()
        elif name in {"cs", "CS"} or name.encode() in DEVICES:
            is_on = name in {"cs", "CS"} and str(instruction.operands[0]) in tools
            fills, strokes = (fills, is_on) if name.encode() in STROKING else (is_on, strokes)
            if (fills, strokes) != before:
                yield _set_state(states, fills, strokes)
        if name == "Do" and (fills or strokes):
            yield _set_state(states, False, False)
            yield instruction
            yield _set_state(states, fills, strokes)
        else:
            yield instruction


def _set_state(states: Any, fills: bool, strokes: bool) -> Instruction:
    name = pikepdf.Name(f"/Overprint{fills:d}{strokes:d}")
    states[name] = pikepdf.Dictionary(op=fills, OP=strokes, OPM=0)
    return pikepdf.ContentStreamInstruction([name], pikepdf.Operator("gs"))
