"""Converts gradients: samples their functions and writes new ones in the target colours."""

from collections.abc import Sequence
from typing import Any

import pikepdf

from stores.press.paints import COMPONENTS, DEVICE, Paint, Values, byte

SAMPLES = 256
DEEPEST = 8


class NotSampled(ValueError):
    """The gradient has a function of an unsupported kind and stays as it is."""


def repaint_gradient(pdf: pikepdf.Pdf, shading: pikepdf.Object, kind: str, paint: Paint) -> bool:
    """Converts an axial or radial gradient; returns whether it could."""
    if int(shading.get("/ShadingType", 0)) not in {2, 3}:
        return False
    start, end = (float(one) for one in shading.get("/Domain", [0, 1]))
    places = [start + (end - start) * number / (SAMPLES - 1) for number in range(SAMPLES)]
    try:
        colours = [_colour(shading.Function, place) for place in places]
    except NotSampled:
        return False
    if any(len(one) != COMPONENTS[kind] for one in colours):
        return False
    if (painted := paint.blend(kind, colours)) is None:
        return True
    shading.Function = pdf.make_indirect(_sampled(pdf, painted, start, end))
    shading.ColorSpace = pikepdf.Name(DEVICE[paint.target])
    if "/Background" in shading:
        background = paint.colour(kind, [float(one) for one in shading.Background])
        shading.Background = pikepdf.Array(list(background or shading.Background))
    return True


def _sampled(pdf: pikepdf.Pdf, colours: Sequence[Values], start: float, end: float) -> pikepdf.Stream:
    content = bytes(byte(value) for colour in colours for value in colour)
    size = len(colours[0])
    return pikepdf.Stream(
        pdf,
        content,
        FunctionType=0,
        Domain=[start, end],
        Range=[0, 1] * size,
        Size=[len(colours)],
        BitsPerSample=8,
    )


def _colour(function: Any, place: float, depth: int = 0) -> list[float]:
    if depth > DEEPEST:
        raise NotSampled
    if isinstance(function, pikepdf.Array):
        return [value for one in function for value in _colour(one, place, depth + 1)]
    low, high = (float(one) for one in function.Domain)
    place = min(max(place, low), high)
    kind = int(function.FunctionType)
    if kind == 2:
        share = place ** float(function.N)
        first = [float(one) for one in function.get("/C0", [0])]
        last = [float(one) for one in function.get("/C1", [1])]
        return [a + share * (b - a) for a, b in zip(first, last, strict=True)]
    if kind == 3:
        return _stitched(function, place, low, high, depth)
    if kind == 0:
        return _of_samples(function, place, low, high)
    raise NotSampled


def _stitched(function: Any, place: float, low: float, high: float, depth: int) -> list[float]:
    bounds = [low, *(float(one) for one in function.Bounds), high]
    last = len(bounds) - 2
    part = next((number for number in range(last) if place < bounds[number + 1]), last)
    start, end = bounds[part], bounds[part + 1]
    first, final = float(function.Encode[2 * part]), float(function.Encode[2 * part + 1])
    inner = first if end <= start else first + (place - start) / (end - start) * (final - first)
    return _colour(function.Functions[part], inner, depth + 1)


def _of_samples(function: Any, place: float, low: float, high: float) -> list[float]:
    if int(function.BitsPerSample) != 8 or len(function.Size) != 1:
        raise NotSampled
    count, content = int(function.Size[0]), function.read_bytes()
    ranges = [float(one) for one in function.Range]
    size = len(ranges) // 2
    position = (place - low) / (high - low) * (count - 1) if high > low else 0.0
    before = min(int(position), count - 1)
    after, share = min(before + 1, count - 1), position - before
    values = []
    for part in range(size):
        mixed = content[before * size + part] * (1 - share) + content[after * size + part] * share
        bottom, top = ranges[2 * part], ranges[2 * part + 1]
        values.append(bottom + mixed / 255 * (top - bottom))
    return values
