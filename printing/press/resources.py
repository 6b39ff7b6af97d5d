"""What every walk over the resources of a PDF needs."""

from collections.abc import Iterator
from typing import Any

import pikepdf

# Colorants without a plate of their own.
PROCESS = frozenset({"All", "None", "Cyan", "Magenta", "Yellow", "Black"})


class Visited:
    """Objects that a walk has met. One without a number of its own lies in one place only, so it is always new."""

    def __init__(self) -> None:
        self._numbers: set[tuple[int, int]] = set()

    def is_new(self, thing: Any) -> bool:
        if not thing.is_indirect:
            return True
        if thing.objgen in self._numbers:
            return False
        self._numbers.add(thing.objgen)
        return True


def resources_of_kind(resources: Any, kind: str) -> Iterator[Any]:
    found = resources.get(kind)
    if isinstance(found, pikepdf.Dictionary):
        yield from list(found.values())


def states_of(pdf: pikepdf.Pdf) -> Iterator[Any]:
    """The graphics states of all resources; patterns have one of their own."""
    for thing in list(pdf.objects):
        if not isinstance(thing, pikepdf.Dictionary | pikepdf.Stream):
            continue
        for resources in (thing, thing.get("/Resources")):
            states = resources.get("/ExtGState") if isinstance(resources, pikepdf.Dictionary) else None
            if isinstance(states, pikepdf.Dictionary):
                of_all = [states] if "/PatternType" in thing else states.values()
                yield from (one for one in of_all if isinstance(one, pikepdf.Dictionary))
