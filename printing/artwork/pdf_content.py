"""What the pages of a PDF hold beside pictures: layers, letters and colors, also those that no inks can replace."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pikepdf

from printing.area import Area
from printing.press.gradients import is_repaintable, is_tint_repaintable
from printing.press.objects import PROCESS, get_dictionary
from printing.press.paints import COMPONENTS, GRAY, OF_CMYK, OF_RGB
from printing.press.repaint import KINDS_OF_DEVICES, is_readable, kind_of
from printing.press.streams import DEVICES

PROCESS_PLATES = ("C", "M", "Y", "K")
# Beyond these, something is taken to be below everything.
LAYERS = 2000
WHITES = {GRAY: (1.0,), OF_RGB: (1.0, 1.0, 1.0), OF_CMYK: (0.0, 0.0, 0.0, 0.0)}
# The width of letters in a font that names none, in thousandths of its size.
USUAL_WIDTH = 500.0
_IN_INKS = {None, GRAY, OF_CMYK}


class Layers:
    """The plates and the place of all that was painted; None for unknown plates or places."""

    def __init__(self) -> None:
        self._painted: list[tuple[frozenset[str] | None, Area | None]] = []

    def add(self, plates: frozenset[str] | None, area: Area | None) -> None:
        if plates is None or plates:
            self._painted.append((plates, area))
            if len(self._painted) > LAYERS:
                self._painted = [(None, None)]

    def shows_through(self, new_plates: Collection[str] | None, area: Area | None) -> bool:
        """Whether there is ink below on other plates than the `new_plates`, which replace what is there."""
        return any(
            (plates is None or new_plates is None or not plates.issubset(new_plates))
            and (area is None or place is None or area.touches(place))
            for plates, place in self._painted
        )


def slivers(areas: list[Area], *, thin: float, long: float) -> list[Area]:
    """Long and thin areas. Those that lie along others are slices of one shape."""
    thin_areas = [
        area for area in areas if min(area.width, area.height) < thin and max(area.width, area.height) >= long
    ]
    return [
        area
        for area in thin_areas
        if not any(
            area is not neighbor
            and (area.width > area.height) == (neighbor.width > neighbor.height)
            and area.touches(neighbor)
            for neighbor in thin_areas
        )
    ]


@dataclass(frozen=True, slots=True)
class Color:
    """`values` are empty for patterns; `spot` names the plates of a spot color. One number of registration stands for
    each process ink. `is_device` of inks that no profile describes."""

    kind: str | None = GRAY
    values: tuple[float, ...] = (0.0,)
    spot: str = ""
    is_registration: bool = False
    is_device: bool = False

    @property
    def plates(self) -> frozenset[str] | None:
        """The plates with ink; None if unknown."""
        if self.is_registration or (self.kind is None and not self.spot):
            return None
        if self.spot or self.kind is None:
            return frozenset(self.spot.split("\n"))
        if self.values == WHITES.get(self.kind):
            return frozenset()
        return (
            frozenset(name for name, value in zip(PROCESS_PLATES, self.values, strict=False) if value)
            if self.kind == OF_CMYK
            else frozenset(PROCESS_PLATES)
        )


BLACK = Color()


def read_color(name: str, operands: Any, resources: Any, before: Color) -> Color:
    if (kind := DEVICES.get(name.encode())) is not None:
        return Color(kind, tuple(float(operand) for operand in operands), is_device=True)
    if name in {"cs", "CS"}:
        key = str(operands[0])
        space = resources.get("/ColorSpace", pikepdf.Dictionary()).get(key)
        if isinstance(space, pikepdf.Array) and [str(entry) for entry in space[:2]] == [
            "/Separation",
            "/All",
        ]:
            return Color(OF_CMYK, (1.0,) * 4, is_registration=True)
        kind = KINDS_OF_DEVICES.get(key) if space is None else kind_of(space)
        black = (0.0, 0.0, 0.0, 1.0) if kind == OF_CMYK else (0.0,) * COMPONENTS.get(kind or "", 0)
        return Color(kind, black, spots_of(space), is_device=not isinstance(space, pikepdf.Array))
    numbers = [operand for operand in operands if not isinstance(operand, pikepdf.Name)]
    if before.is_registration:
        numbers = numbers[:1] * 4
    return replace(before, values=tuple(float(number) for number in numbers) if before.kind else ())


def replaced_plates(color: Color, keeps_zeros: bool) -> frozenset[str] | None:
    """The plates that are painted although the color overprints: with OPM 1 alone, zeros of DeviceCMYK leave theirs."""
    if color.spot or color.plates is None:
        return color.plates
    if keeps_zeros and color.is_device and color.kind == OF_CMYK:
        return color.plates
    return frozenset(PROCESS_PLATES)


def spots_of(space: Any) -> str:
    """The plates of a color space beside those of the process, by line."""
    if not isinstance(space, pikepdf.Array) or len(space) < 2:
        return ""
    names = [space[1]] if space[0] == "/Separation" else space[1] if space[0] == "/DeviceN" else []
    return "\n".join(name for name in (str(plate)[1:] for plate in names) if name not in PROCESS)


class Letters:
    """The widths of one font; a letter has one byte, or two in a composite font."""

    def __init__(self, font: Any) -> None:
        self._is_composite = "/DescendantFonts" in font
        # The glyphs of a Type 3 font have units of their own.
        matrix = font.get("/FontMatrix")
        self._unit = float(matrix[0]) if matrix is not None else 0.001
        if self._is_composite:
            inner = font.DescendantFonts[0]
            self._default = float(inner.get("/DW", 1000))
            self._widths = dict(_composite_widths(inner.get("/W", pikepdf.Array())))
        else:
            descriptor = font.get("/FontDescriptor", pikepdf.Dictionary())
            self._default = float(descriptor.get("/MissingWidth", USUAL_WIDTH))
            first = int(font.get("/FirstChar", 0))
            self._widths = {
                first + index: float(width)
                for index, width in enumerate(font.get("/Widths", pikepdf.Array()))
            }

    def advance(self, text: bytes, size: float, spacing: float, word_spacing: float) -> float:
        """How far the text moves on, in units of text space before it is stretched."""
        step = 2 if self._is_composite else 1
        codes = [int.from_bytes(text[index : index + step]) for index in range(0, len(text), step)]
        widths = sum(self._widths.get(code, self._default) for code in codes)
        spaces = codes.count(32) if step == 1 else 0
        return widths * self._unit * size + len(codes) * spacing + spaces * word_spacing


def _composite_widths(entries: Any) -> Iterator[tuple[int, float]]:
    index = 0
    while index < len(entries) - 1:
        first = int(entries[index])
        if isinstance(entries[index + 1], pikepdf.Array):
            yield from ((first + number, float(entry)) for number, entry in enumerate(entries[index + 1]))
            index += 2
        else:
            last = min(int(entries[index + 1]), first + 0xFFFF)
            yield from ((code, float(entries[index + 2])) for code in range(first, last + 1))
            index += 3


def left_in_color(resources: Any) -> Iterator[str]:
    """Describes what is left in color in one resource dictionary; forms inside it are checked separately."""
    patterns = list(get_dictionary(resources, "/Pattern").values())
    for shading in shadings_of(resources):
        kind = kind_of(shading.get("/ColorSpace"))
        if kind not in _IN_INKS and not is_repaintable(shading, str(kind)):
            yield f"a gradient of type {int(shading.get('/ShadingType', 0))}"
        yield from _spot_in_color(shading.get("/ColorSpace"))
    if any(pattern.get("/PaintType") == 2 for pattern in patterns):
        # One that inherits its color. The renderer of proofs shows it in other colors than the plates have.
        yield "a pattern without colors of its own"
    for space in get_dictionary(resources, "/ColorSpace").values():
        yield from _spot_in_color(space)
    for image in get_dictionary(resources, "/XObject").values():
        if image.get("/Subtype") == "/Image":
            yield from _picture_in_color(image)


def shadings_of(resources: Any) -> list[Any]:
    """The shadings that are drawn, and those of patterns."""
    patterns = get_dictionary(resources, "/Pattern").values()
    shadings = get_dictionary(resources, "/Shading").values()
    return [*shadings, *(pattern.Shading for pattern in patterns if "/Shading" in pattern)]


def _picture_in_color(image: Any) -> Iterator[str]:
    space = image.get("/ColorSpace")
    is_palette = isinstance(space, pikepdf.Array) and str(space[0]) == "/Indexed"
    kind = kind_of(space[1] if is_palette else space)
    is_unread = kind not in _IN_INKS and not is_readable(image, str(kind))
    if not is_palette and (is_unread or _has_mask_in_color(image, kind)):
        yield "a picture in a form that is not read here"
    if space is None and "/JPXDecode" in str(image.get("/Filter")):
        yield "a picture in JPEG 2000"
    yield from _spot_in_color(space[1] if is_palette else space)


def _has_mask_in_color(image: Any, kind: str | None) -> bool:
    """Whether a picture whose colors are converted has a mask in color, of a format that preparation does not read."""
    soft = image.get("/SMask", pikepdf.Dictionary())
    return kind not in _IN_INKS and (isinstance(image.get("/Mask"), pikepdf.Array) or "/Matte" in soft)


def _spot_in_color(space: Any) -> Iterator[str]:
    """The alternate colors by which a spot color is shown, and printed without a plate."""
    if isinstance(space, pikepdf.Array) and str(space[0]) in {"/Separation", "/DeviceN"}:
        kind = kind_of(space[2])
        if kind not in {GRAY, OF_CMYK} and not is_tint_repaintable(space, str(kind)):
            yield "spot colors that other colors than inks stand for"
    elif isinstance(space, pikepdf.Array) and str(space[0]) == "/Pattern" and len(space) > 1:
        yield from _spot_in_color(space[1])
