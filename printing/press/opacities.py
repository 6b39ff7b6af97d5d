"""Gradients as the renderer of proofs draws them: with the opacity of when they became the color."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pikepdf

from printing.press.objects import get_dictionary, has_half_clear_state, resources_of_kind
from printing.press.streams import Instruction
from printing.press.tiles import rewrite_streams

_COLORS = frozenset({"g", "rg", "k", "cs", "sc", "scn"})


def set_gradients_again(pdf: pikepdf.Pdf, holders: list[Any]) -> None:
    """Sets gradients after each change of the opacity, which browsers write after the color."""
    owners = (holder for holder in holders if _has_half_clear_gradient(holder.Resources))
    rewrite_streams(pdf, ((owner, partial(_set_again, owner.Resources)) for owner in owners))


def _has_half_clear_gradient(resources: Any) -> bool:
    return has_half_clear_state(resources, "/ca", "/CA") and any(
        map(_is_gradient, resources_of_kind(resources, "/Pattern"))
    )


def _is_gradient(pattern: Any) -> bool:
    return isinstance(pattern, pikepdf.Dictionary) and pattern.get("/PatternType") == 2


def _set_again(resources: Any, content: list[Instruction]) -> Iterator[Instruction]:
    patterns = get_dictionary(resources, "/Pattern")
    # By whether they are for fills or for strokes.
    gradients = dict[bool, Instruction]()
    stack: list[dict[bool, Instruction]] = []
    for instruction in content:
        yield instruction
        name, operand = str(instruction.operator), str(["", *instruction.operands][-1])
        if name == "q":
            stack.append(dict(gradients))
        elif name == "Q" and stack:
            gradients = stack.pop()
        elif name.lower() in _COLORS:
            gradients.pop(name.islower(), None)
            if _is_gradient(patterns.get(operand)):
                gradients[name.islower()] = instruction
        elif name == "gs":
            yield from gradients.values()
