"""Says plainly in an artwork what programs read in different ways, so that its proof shows what a press prints."""

import math
from decimal import Decimal
from typing import Any

import pikepdf

from printing.press.groups import mask_of
from printing.press.objects import drop, states_of
from printing.press.paints import DEVICE, KINDS_OF_SIZES, OF_RGB

# Entries that describe a device, not the artwork.
OF_DEVICES = ("/TR", "/TR2", "/HTP", "/HT", "/BG", "/BG2", "/UCR", "/UCR2")
# Entries that put another picture in the place of one.
_INSTEAD = ("/Alternates", "/OPI")
# The most tiles that are drawn in the place of one.
_LAPPED = 25
_MODES = frozenset(
    (
        *("/Normal", "/Compatible", "/Multiply", "/Screen", "/Overlay", "/Darken", "/Lighten"),
        *("/ColorDodge", "/ColorBurn", "/HardLight", "/SoftLight", "/Difference", "/Exclusion"),
        *("/Hue", "/Saturation", "/Color", "/Luminosity"),
    )
)


def make_plain(pdf: pikepdf.Pdf) -> None:
    for state in states_of(pdf):
        drop(state, *OF_DEVICES)
        _name_mode(state)
        _name_space(state)
    for item in list(pdf.objects):
        if isinstance(item, pikepdf.Stream):
            drop(item, *_INSTEAD)
            _turn_steps(item)
            if item.get("/PaintType") == 1 and "/BBox" in item:
                _draw_neighbors(pdf, item)


def _name_mode(state: Any) -> None:
    """Names the first known one of a list of ways to blend."""
    if isinstance(modes := state.get("/BM"), pikepdf.Array):
        known_modes = (str(mode) for mode in modes if str(mode) in _MODES)
        state.BM = pikepdf.Name(next(known_modes, "/Normal"))


def _name_space(state: Any) -> None:
    """Names the color space of a mask: without it, some programs mask nothing, also by alpha, as browsers write it."""
    mask = mask_of(state)
    if mask is None:
        return
    if not isinstance(mask.G.get("/Group"), pikepdf.Dictionary):
        mask.G.Group = pikepdf.Dictionary(S=pikepdf.Name.Transparency)
    if "/CS" not in mask.G.Group:
        kind = KINDS_OF_SIZES.get(len(mask.get("/BC", ())), OF_RGB)
        mask.G.Group.CS = pikepdf.Name(DEVICE[kind])


def _turn_steps(tile: pikepdf.Stream) -> None:
    """Tiles lie alike in both directions, but the renderer shifts those of negative steps."""
    for key in ("/XStep", "/YStep"):
        step = tile.get(key)
        if isinstance(step, int | Decimal) and step < 0:
            tile[key] = -step


def _draw_neighbors(pdf: pikepdf.Pdf, tile: pikepdf.Stream) -> None:
    """Draws in a tile what overlaps it of its neighbors, because the renderer cuts tiles to their steps."""
    left, bottom, right, top = map(float, tile.BBox)
    wide, high = (float(tile.get(key, 0)) or math.inf for key in ("/XStep", "/YStep"))
    # Steps are often rounded.
    sides = (right - left) / wide, (top - bottom) / high
    across, up = (math.ceil(min(side, _LAPPED + 1) - 0.01) for side in sides)
    if min(across, up) < 1 or not 1 < across * up <= _LAPPED:
        return
    form = pdf.make_stream(tile.read_bytes(), Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form)
    form.BBox, form.Resources = tile.BBox, tile.get("/Resources", pikepdf.Dictionary())
    places = [(-wide * column, -high * row) for row in range(up) for column in range(across)]
    tile.write(b"".join(b"q 1 0 0 1 %.4f %.4f cm /Tile Do Q\n" % place for place in places))
    tile.BBox = pikepdf.Array([left, bottom, left + wide, bottom + high])
    tile.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Tile=form))
