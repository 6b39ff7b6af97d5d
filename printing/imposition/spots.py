"""Spot colors of a print file, which have plates of their own."""

import io
from collections.abc import Iterator
from contextlib import suppress

import pikepdf

from printing.press.die_lines import is_tool
from printing.press.resources import PROCESS


def spot_plates(content: bytes) -> tuple[str, ...]:
    """Names of the plates beside those of the process colors, sorted; none where the file cannot be read."""
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            names = {ink for space in _spaces(pdf) for ink in _inks(space)}
    except pikepdf.PdfError:
        return ()
    return tuple(sorted(names - PROCESS))


def spot_inks(pdf: pikepdf.Pdf) -> dict[str, pikepdf.Object]:
    """The color spaces of spot colors that print, by names for resources, in the order of their plates; tools print
    nothing."""
    found: dict[str, pikepdf.Object] = {}
    for space in _spaces(pdf):
        if len(inks := _inks(space)) == 1 and space[0] == pikepdf.Name.Separation:
            found.setdefault(inks[0], space)
    plates = sorted(name for name in found if name not in PROCESS and not is_tool(name))
    return {f"/Spot{number}": found[name] for number, name in enumerate(plates, 1)}


def _spaces(pdf: pikepdf.Pdf) -> Iterator[pikepdf.Object]:
    for found in pdf.objects:
        yield found
        if isinstance(found, pikepdf.Dictionary | pikepdf.Stream):
            yield from _spaces_of(found)


def _spaces_of(found: pikepdf.Object) -> Iterator[pikepdf.Object]:
    """Color spaces of resources and pictures."""
    resources = found.get("/Resources", found)
    spaces = (
        resources.get("/ColorSpace") if isinstance(resources, pikepdf.Dictionary | pikepdf.Stream) else None
    )
    if isinstance(spaces, pikepdf.Dictionary):
        yield from (space for _, space in spaces.items())
    elif spaces is not None:
        yield spaces


def _inks(space: pikepdf.Object) -> list[str]:
    if not isinstance(space, pikepdf.Array) or len(space) < 4:
        return []
    kind, inks = space[0], space[1]
    # A customer's PDF may have names of any bytes where nothing is painted with them.
    with suppress(UnicodeDecodeError):
        if kind == pikepdf.Name.Separation and isinstance(inks, pikepdf.Name):
            return [str(inks)[1:]]
        if kind == pikepdf.Name.DeviceN and isinstance(inks, pikepdf.Array):
            return [str(ink)[1:] for ink in inks]
    return []
