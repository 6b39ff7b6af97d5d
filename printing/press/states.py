from collections.abc import Iterator
from typing import Any

import pikepdf


def states_of(pdf: pikepdf.Pdf) -> Iterator[Any]:
    """The graphics states of all resources; patterns have one of their own."""
    for thing in list(pdf.objects):
        if not isinstance(thing, pikepdf.Dictionary | pikepdf.Stream):
            continue
        for resources in (thing, thing.get("/Resources")):
            states = resources.get("/ExtGState") if isinstance(resources, pikepdf.Dictionary) else None
            if isinstance(states, pikepdf.Dictionary):
                own = "/PatternType" in thing
                yield from (
                    (states,)
                    if own
                    else (one for one in states.values() if isinstance(one, pikepdf.Dictionary))
                )
