"""Finds colours of artwork that the writer cannot convert to inks; such artwork must not be printed in CMYK."""

from collections.abc import Iterator
from typing import Any

import pikepdf

from printing.press.gradients import is_repaintable, is_tint_repaintable
from printing.press.paints import GREY, OF_CMYK
from printing.press.repaint import is_readable, kind_of
from printing.press.streams import named

_IN_INKS = {None, GREY, OF_CMYK}


def left_in_colour(resources: Any) -> Iterator[str]:
    """As text, for one resource dictionary; forms inside it are checked separately."""
    patterns = list(named(resources, "/Pattern").values())
    for shading in shadings_of(resources):
        kind = kind_of(shading.get("/ColorSpace"))
        if kind not in _IN_INKS and not is_repaintable(shading, str(kind)):
            yield f"a gradient of type {int(shading.get('/ShadingType', 0))}"
        yield from _spot_in_colour(shading.get("/ColorSpace"))
    if any(pattern.get("/PaintType") == 2 for pattern in patterns):
        # The renderer of proofs shows it in other colours than the plates have.
        yield "a pattern without colors of its own"
    for space in named(resources, "/ColorSpace").values():
        yield from _spot_in_colour(space)
    for image in named(resources, "/XObject").values():
        if image.get("/Subtype") == "/Image":
            yield from _picture_in_colour(image)


def shadings_of(resources: Any) -> list[Any]:
    """Those that are drawn, and those of patterns."""
    patterns = named(resources, "/Pattern").values()
    drawn = named(resources, "/Shading").values()
    return [*drawn, *(pattern.Shading for pattern in patterns if "/Shading" in pattern)]


def _picture_in_colour(image: Any) -> Iterator[str]:
    space = image.get("/ColorSpace")
    is_palette = isinstance(space, pikepdf.Array) and str(space[0]) == "/Indexed"
    kind = kind_of(space[1] if is_palette else space)
    is_unread = kind not in _IN_INKS and not is_readable(image, str(kind))
    if not is_palette and (is_unread or _has_mask_in_colour(image, kind)):
        yield "a picture in a form that is not read here"
    if space is None and "/JPXDecode" in str(image.get("/Filter")):
        yield "a picture in JPEG 2000"
    yield from _spot_in_colour(space[1] if is_palette else space)


def _has_mask_in_colour(image: Any, kind: str | None) -> bool:
    """What preparation did not resolve, of a picture whose colours are converted: formats that it does not read."""
    soft = image.get("/SMask", pikepdf.Dictionary())
    return kind not in _IN_INKS and (isinstance(image.get("/Mask"), pikepdf.Array) or "/Matte" in soft)


def _spot_in_colour(space: Any) -> Iterator[str]:
    """The alternate colours by which a spot colour is shown, and printed without a plate."""
    if isinstance(space, pikepdf.Array) and str(space[0]) in {"/Separation", "/DeviceN"}:
        kind = kind_of(space[2])
        if kind not in {GREY, OF_CMYK} and not is_tint_repaintable(space, str(kind)):
            yield "spot colors that other colors than inks stand for"
    elif isinstance(space, pikepdf.Array) and str(space[0]) == "/Pattern" and len(space) > 1:
        yield from _spot_in_colour(space[1])
