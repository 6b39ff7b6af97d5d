"""Color conversions of a PDF: to the inks of a press, to gray for masks, or to a soft proof for screens."""

from collections.abc import Sequence
from typing import Protocol

from PIL import Image

from printing.press.colors import FULL, RGB, Separation
from printing.press.tagged import Tagged

GRAY, OF_RGB, OF_CMYK, OF_LAB = "gray", "rgb", "cmyk", "lab"
KINDS_OF_SIZES = {1: GRAY, 3: OF_RGB, 4: OF_CMYK}
DEVICE = {GRAY: "/DeviceGray", OF_RGB: "/DeviceRGB", OF_CMYK: "/DeviceCMYK"}
OPERATORS = {GRAY: (b"g", b"G"), OF_RGB: (b"rg", b"RG"), OF_CMYK: (b"k", b"K")}


class _Components(dict[str, int]):
    """The numbers of components, also of kinds with a profile, whose names begin with that of the plain kind."""

    def __missing__(self, kind: str) -> int:
        return self[kind.partition(" ")[0]]


COMPONENTS = _Components({GRAY: 1, OF_RGB: 3, OF_CMYK: 4, OF_LAB: 3})
Values = Sequence[float]


class Paint(Protocol):
    """A color conversion. `target` is the resulting kind of color; values range from 0 to 1, but for those of Lab."""

    target: str

    def color(self, kind: str, values: Values) -> Values | None:
        """The converted color; None if it stays unchanged."""

    def blend(self, kind: str, colors: Sequence[Values]) -> list[Values] | None:
        """The converted colors along a gradient; None if it stays unchanged."""

    def picture(self, picture: Image.Image, *, as_jpeg: bool) -> Image.Image | None:
        """Converts a picture of mode L, RGB or CMYK; None if only its color space changes."""


class Inks:
    """Paints for the press: converts all but inks; grays go to the K plate only."""

    target = OF_CMYK

    def __init__(self, separation: Separation) -> None:
        self._separation = separation

    def color(self, kind: str, values: Values) -> Values | None:
        if kind == OF_CMYK:
            return None
        if is_gray(kind, values):
            return [0, 0, 0, self._separation.black_of(gray_of(kind, values)) / FULL]
        return convert_to_inks(self._separation, kind, values)

    def blend(self, kind: str, colors: Sequence[Values]) -> list[Values] | None:
        if kind == OF_CMYK:
            return None
        if all(is_gray(kind, values) for values in colors):
            return [self.color(kind, values) or values for values in colors]
        return [convert_to_inks(self._separation, kind, values) for values in colors]

    def picture(self, picture: Image.Image, *, as_jpeg: bool) -> Image.Image | None:
        return None if picture.mode == "L" else self._separation.picture(picture, as_jpeg=as_jpeg)


class Shades:
    """Paints for masks: converts colors to their luminosity."""

    target = GRAY

    def color(self, kind: str, values: Values) -> Values | None:
        return [luminosity(kind, values)]

    def blend(self, kind: str, colors: Sequence[Values]) -> list[Values] | None:
        return [[luminosity(kind, values)] for values in colors]

    def picture(self, picture: Image.Image, *, as_jpeg: bool) -> Image.Image | None:
        return None if picture.mode == "L" else picture.convert("L")


class SoftProof:
    """Paints for screens: each color as it will look in print."""

    target = OF_RGB

    def __init__(self, separation: Separation, inks: Inks | None) -> None:
        """Colors look with `inks` as the CMYK policy prints them, else as a RIP converts managed colors."""
        self._separation, self._inks = separation, inks

    def color(self, kind: str, values: Values) -> Values | None:
        return self._screen_colors([self._printed_inks(kind, values)])[0]

    def blend(self, kind: str, colors: Sequence[Values]) -> list[Values] | None:
        if kind != OF_CMYK and self._inks is not None:
            return self._screen_colors(self._inks.blend(kind, colors) or [])
        return self._screen_colors([self._printed_inks(kind, values) for values in colors])

    def picture(self, picture: Image.Image, *, as_jpeg: bool) -> Image.Image | None:
        if picture.mode == "CMYK":
            return self._separation.picture_on_screen(picture)
        if picture.mode != "L" or self._inks is None:
            return self._separation.picture_on_screen(self._separation.picture(picture.convert("RGB")))
        black = picture.point([FULL - value for value in range(FULL + 1)])
        empty = Image.new("L", picture.size, 0)
        return self._separation.picture_on_screen(Image.merge("CMYK", (empty, empty, empty, black)))

    def _printed_inks(self, kind: str, values: Values) -> Values:
        if kind == OF_CMYK:
            return values
        if self._inks is not None:
            return self._inks.color(kind, values) or values
        return convert_to_inks(self._separation, kind, values)

    def _screen_colors(self, inks: Sequence[Values]) -> list[Values]:
        colors: list[Values] = []
        for ink in inks:
            cyan, magenta, yellow, black = (byte(value) for value in ink)
            colors.append(
                [value / FULL for value in self._separation.on_screen((cyan, magenta, yellow, black))]
            )
        return colors


def is_gray(kind: str, values: Values) -> bool:
    if kind == OF_LAB:
        return max(abs(values[1]), abs(values[2])) < 0.5
    red, green, blue = as_rgb(kind, values)
    return red == green == blue


def gray_of(kind: str, values: Values) -> int:
    """The level of sRGB of a color that is gray."""
    if kind != OF_LAB:
        return as_rgb(kind, values)[0]
    light = ((values[0] + 16) / 116) ** 3 if values[0] > 8 else values[0] / 903.3
    return byte(12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055)


def convert_to_inks(separation: Separation, kind: str, values: Values) -> Values:
    """Converts to all inks, grays too."""
    inks = separation.of_lab(values) if kind == OF_LAB else separation.blend_inks(as_rgb(kind, values))
    return [ink / FULL for ink in inks]


def as_rgb(kind: str, values: Values) -> RGB:
    if kind == GRAY:
        return (byte(values[0]),) * 3
    red, green, blue = (byte(value) for value in values)
    return kind.color((red, green, blue)) if isinstance(kind, Tagged) else (red, green, blue)


def luminosity(kind: str, values: Values) -> float:
    """The luminosity of device colors as PDF defines it."""
    if kind == GRAY:
        return values[0]
    if kind == OF_LAB:
        return gray_of(kind, values) / FULL
    if kind == OF_CMYK:
        cyan, magenta, yellow, black = values
        return 1 - min(1.0, 0.3 * cyan + 0.59 * magenta + 0.11 * yellow + black)
    return 0.3 * values[0] + 0.59 * values[1] + 0.11 * values[2]


def byte(value: float) -> int:
    return min(FULL, max(0, round(value * FULL)))
