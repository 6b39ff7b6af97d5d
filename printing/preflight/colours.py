"""Colours on screen and in print: contrast and total ink."""

from printing.press.rules import ColourPolicy
from printing.typesetting.template import CMYK, RGB

Seen = tuple[float, float, float]
# Brighter colours of a screen are no black, and those of equal parts are grey.
BLACK_LEVEL, GREY_LEVELS = 72, 8
# A ground of at most this luminance is dark, and letters are light that much above it.
DARK, LIGHTER = 0.35, 0.2


def seen(color: RGB | CMYK) -> Seen:
    """The approximate sRGB colour, to compare light with dark."""
    if isinstance(color, RGB):
        return tuple(float(int(color.code[at : at + 2], 16)) for at in (1, 3, 5))  # type: ignore[return-value]
    rest = 1 - color.black / 100
    parts = (255 * (1 - ink / 100) * rest for ink in (color.cyan, color.magenta, color.yellow))
    return tuple(parts)  # type: ignore[return-value]  # of three


def luminance(color: Seen) -> float:
    """Relative luminance from 0 (black) to 1 (white), as WCAG defines it."""
    parts = [part / 255 for part in color]
    red, green, blue = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Seen, other: Seen) -> float:
    """From 1 (the same) to 21 (black on white)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def total_ink(color: CMYK) -> float:
    """Total ink in percent; a spot colour counts as one ink."""
    if color.spot:
        return 100.0
    return color.cyan + color.magenta + color.yellow + color.black


def is_white(color: RGB | CMYK) -> bool:
    return min(seen(color)) >= 250


def rich_black(color: RGB | CMYK, policy: ColourPolicy) -> str:
    """Words for a black that prints with at least two other inks, which need exact register; else empty.

    Greys of a screen are printed with black alone, but by a RIP that converts managed colours.
    """
    if isinstance(color, RGB):
        levels = seen(color)
        is_black = max(levels) < BLACK_LEVEL and max(levels) - min(levels) < GREY_LEVELS
        is_grey = max(levels) == min(levels) and policy == ColourPolicy.CMYK
        return f"RGB {color.code}" if is_black and not is_grey else ""
    inks = (color.cyan, color.magenta, color.yellow)
    is_rich = not color.spot and color.black >= 50 and sum(ink >= 10 for ink in inks) >= 2
    return ink_words(color) if is_rich else ""


def is_reversed(color: RGB | CMYK, ground: Seen) -> bool:
    """Whether letters are light on a dark ground, whose ink fills them."""
    return luminance(ground) < DARK and luminance(seen(color)) > luminance(ground) + LIGHTER


def ink_words(color: CMYK) -> str:
    return f"C{color.cyan:g} M{color.magenta:g} Y{color.yellow:g} K{color.black:g}"
