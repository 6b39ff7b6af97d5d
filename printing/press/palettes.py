"""Converts the colors of palettes, which pictures and shapes name by their numbers."""

from typing import Any

import pikepdf

from printing.press.paints import COMPONENTS, DEVICE, OF_LAB, Paint, byte


def is_palette(space: Any) -> bool:
    return isinstance(space, pikepdf.Array) and len(space) > 3 and str(space[0]) == "/Indexed"


def repaint_palette(space: Any, kind: str, paint: Paint) -> Any:
    """The color space with converted colors of this kind; as it is where they stay."""
    table = bytes(space[3].read_bytes() if isinstance(space[3], pikepdf.Stream) else bytes(space[3]))
    size, (lows, highs) = COMPONENTS[kind], _ends_of(space[1], kind)
    # What follows the highest number is no color: pictures with higher numbers show that of the highest.
    end = min(len(table), (int(space[2]) + 1) * size)
    entries = [table[start : start + size] for start in range(0, end - size + 1, size)]
    painted = [
        paint.color(
            kind,
            [low + value / 255 * (high - low) for value, low, high in zip(entry, lows, highs, strict=True)],
        )
        for entry in entries
    ]
    if any(color is None for color in painted):
        return space
    content = bytes(byte(value) for color in painted for value in color or ())
    base = pikepdf.Name(DEVICE[paint.target])
    return pikepdf.Array([pikepdf.Name.Indexed, base, len(entries) - 1, pikepdf.String(content)])


def _ends_of(space: Any, kind: str) -> tuple[list[float], list[float]]:
    """The lowest and the highest values of the components of a color space."""
    if kind != OF_LAB:
        return [0.0] * COMPONENTS[kind], [1.0] * COMPONENTS[kind]
    ends = [float(end) for end in space[1].get("/Range", [-100, 100] * 2)]
    return [0.0, *ends[::2]], [100.0, *ends[1::2]]
