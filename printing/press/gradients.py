"""Converts gradients: samples their functions and writes new ones in the target colors."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

import pikepdf

from printing.press.paints import COMPONENTS, DEVICE, Paint, Values, byte

Color = Callable[[float], list[float]]
SAMPLES = 256
MAX_DEPTH = 8


class NotSampled(ValueError):
    """The gradient has a function of an unsupported kind and stays as it is."""


def repaint_gradient(pdf: pikepdf.Pdf, shading: pikepdf.Object, kind: str, paint: Paint) -> bool:
    """Converts an axial or radial gradient; returns whether it could."""
    if int(shading.get("/ShadingType", 0)) not in {2, 3}:
        return False
    start, end = (float(bound) for bound in shading.get("/Domain", [0, 1]))
    positions = [start + (end - start) * number / (SAMPLES - 1) for number in range(SAMPLES)]
    try:
        color = _compile(shading.Function)
        colors = [color(position) for position in positions]
    except NotSampled:
        return False
    if any(len(sample) != COMPONENTS[kind] for sample in colors):
        return False
    if (painted := paint.blend(kind, colors)) is None:
        return True
    shading.Function = pdf.make_indirect(_sampled_function(pdf, painted, start, end))
    shading.ColorSpace = pikepdf.Name(DEVICE[paint.target])
    if "/Background" in shading:
        background = paint.color(kind, [float(component) for component in shading.Background])
        shading.Background = pikepdf.Array(list(background or shading.Background))
    return True


def repaint_tint(pdf: pikepdf.Pdf, space: Any, kind: str, paint: Paint) -> None:
    """Converts all tints of the process color that replaces a spot color without a plate."""
    if not is_tint_repaintable(space, kind):
        return
    tint = _compile(space[3])
    painted = paint.blend(kind, [tint(number / (SAMPLES - 1)) for number in range(SAMPLES)])
    if painted is not None:
        space[2] = pikepdf.Name(DEVICE[paint.target])
        space[3] = pdf.make_indirect(_sampled_function(pdf, painted, 0, 1))


def is_tint_repaintable(space: Any, kind: str) -> bool:
    try:
        return str(space[0]) == "/Separation" and len(_compile(space[3])(0.0)) == COMPONENTS[kind]
    except (NotSampled, AttributeError, KeyError, ValueError, TypeError):
        return False


def is_repaintable(shading: Any, kind: str) -> bool:
    """Whether `repaint_gradient` can do it."""
    if int(shading.get("/ShadingType", 0)) not in {2, 3}:
        return False
    try:
        return len(_compile(shading.Function)(float(shading.get("/Domain", [0, 1])[0]))) == COMPONENTS[kind]
    except (NotSampled, AttributeError, KeyError, ValueError, TypeError):
        return False


def _sampled_function(pdf: pikepdf.Pdf, colors: Sequence[Values], start: float, end: float) -> pikepdf.Stream:
    content = bytes(byte(value) for color in colors for value in color)
    size = len(colors[0])
    return pikepdf.Stream(
        pdf,
        content,
        FunctionType=0,
        Domain=[start, end],
        Range=[0, 1] * size,
        Size=[len(colors)],
        BitsPerSample=8,
    )


def _compile(function: Any, depth: int = 0) -> Color:
    """The function in Python, its parameters read from the PDF once for all samples."""
    if depth > MAX_DEPTH:
        raise NotSampled
    if isinstance(function, pikepdf.Array):
        parts = [_compile(child, depth + 1) for child in function]
        return lambda position: [value for part in parts for value in part(position)]
    low, high = _read_numbers(function.Domain)
    kind = int(function.FunctionType)
    if kind == 2:
        inner = _compile_exponential(function)
    elif kind == 3:
        inner = _stitched_color(function, low, high, depth)
    elif kind == 0:
        inner = _sampled_color(function, low, high)
    else:
        raise NotSampled
    if "/Range" not in function:
        return lambda position: inner(min(max(position, low), high))
    ranges = _read_pairs(function.Range)
    return lambda position: [
        min(max(value, least), most)
        for value, (least, most) in zip(inner(min(max(position, low), high)), ranges, strict=False)
    ]


def _compile_exponential(function: Any) -> Color:
    exponent = float(function.N)
    first, last = _read_numbers(function.get("/C0", [0])), _read_numbers(function.get("/C1", [1]))
    ends = [(a, b - a) for a, b in zip(first, last, strict=True)]

    def color(position: float) -> list[float]:
        share = position**exponent
        return [start + share * length for start, length in ends]

    return color


def _stitched_color(function: Any, low: float, high: float, depth: int) -> Color:
    bounds = [low, *_read_numbers(function.Bounds), high]
    encode = _read_numbers(function.Encode)
    parts = [_compile(child, depth + 1) for child in function.Functions]

    def color(position: float) -> list[float]:
        part = min(bisect_right(bounds, position, 1, len(bounds) - 1), len(parts)) - 1
        start, end = bounds[part], bounds[part + 1]
        first, final = encode[2 * part], encode[2 * part + 1]
        inner = first if end <= start else first + (position - start) / (end - start) * (final - first)
        return parts[part](inner)

    return color


def _sampled_color(function: Any, low: float, high: float) -> Color:
    if int(function.BitsPerSample) != 8 or len(function.Size) != 1:
        raise NotSampled
    count, content = int(function.Size[0]), function.read_bytes()
    first, last = _read_numbers(function.get("/Encode", [0, count - 1]))
    scales = [
        (start, (end - start) / 255) for start, end in _read_pairs(function.get("/Decode", function.Range))
    ]
    size = len(scales)

    def color(place: float) -> list[float]:
        position = first + (place - low) / (high - low) * (last - first) if high > low else first
        position = min(max(position, 0.0), count - 1.0)
        before = int(position)
        after, share = min(before + 1, count - 1), position - before
        return [
            bottom
            + scale * (content[before * size + index] * (1 - share) + content[after * size + index] * share)
            for index, (bottom, scale) in enumerate(scales)
        ]

    return color


def _read_pairs(values: Any) -> list[tuple[float, float]]:
    numbers = _read_numbers(values)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _read_numbers(values: Any) -> list[float]:
    return [float(value) for value in values]
