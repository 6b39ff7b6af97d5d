"""Gives resources to what has none of its own: old programs leave forms to those of the page."""

from collections.abc import Iterator
from typing import Any

import pikepdf

from printing.press.streams import Visited, resources_of_kind


def give_resources(pdf: pikepdf.Pdf) -> None:
    """With those of the page, or of the form, that draws them first."""
    visited, left = Visited(), [page.obj for page in reversed(pdf.pages)]
    while left:
        holder = left.pop()
        if "/Resources" not in holder or not visited.is_new(holder.Resources):
            continue
        for one in _drawn(holder.Resources):
            if "/Resources" not in one:
                if not holder.Resources.is_indirect:
                    holder.Resources = pdf.make_indirect(holder.Resources)
                one.Resources = holder.Resources
            if visited.is_new(one):
                left.append(one)


def _drawn(resources: Any) -> Iterator[Any]:
    """Forms, patterns, masks and the fonts whose letters are drawn like forms."""
    for one in resources_of_kind(resources, "/XObject"):
        if isinstance(one, pikepdf.Stream) and str(one.get("/Subtype")) == "/Form":
            yield one
    for one in resources_of_kind(resources, "/Pattern"):
        if isinstance(one, pikepdf.Stream):
            yield one
    for state in resources_of_kind(resources, "/ExtGState"):
        mask = state.get("/SMask")
        if isinstance(mask, pikepdf.Dictionary) and isinstance(mask.get("/G"), pikepdf.Stream):
            yield mask.G
    for font in resources_of_kind(resources, "/Font"):
        if "/CharProcs" in font:
            yield font
