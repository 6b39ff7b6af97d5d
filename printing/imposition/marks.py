"""Marks beside the pieces: registration crosses, color bars and bar codes, as PDF operators. Lengths are mm."""

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from threading import RLock
from typing import Any

import pikepdf
from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

from printing.barcodes import code_128_runs
from printing.press.die_lines import is_tool
from printing.press.identity import give_id, identify
from printing.press.objects import PROCESS, drop
from printing.typesetting.fonts import SHIPPED_FONTS

POINTS = 72 / 25.4
BLACK = "0 0 0 1 k"
PAPER = "0 0 0 0 k"
CROSS_MM, LINE_POINTS = 4.0, 0.25
PATCH_MM = (4.0, 3.0)
# Full and half of each process color.
PATCHES = tuple(
    " ".join([*(str(amount if at == ink else 0) for at in range(4)), "k"])
    for amount in (1, 0.5)
    for ink in range(4)
)
FONT = SHIPPED_FONTS / "inter" / "Inter[opsz,wght].ttf"


def registration(pdf: pikepdf.Pdf) -> pikepdf.Object:
    """The registration color, which prints on every plate."""
    tint = pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 0, 0], C1=[1, 1, 1, 1], N=1)
    return pdf.make_indirect(
        pikepdf.Array([pikepdf.Name.Separation, pikepdf.Name.All, pikepdf.Name.DeviceCMYK, tint])
    )


def cross(x: float, y: float) -> str:
    """A registration cross around a point, in the color space /All of the resources."""
    half, ring = CROSS_MM / 2 * POINTS, CROSS_MM / 4 * POINTS
    x, y, bend = x * POINTS, y * POINTS, CROSS_MM / 4 * POINTS * 0.5523
    lines = [
        f"{x - half:.3f} {y:.3f} m {x + half:.3f} {y:.3f} l",
        f"{x:.3f} {y - half:.3f} m {x:.3f} {y + half:.3f} l",
        f"{x + ring:.3f} {y:.3f} m",
        f"{x + ring:.3f} {y + bend:.3f} {x + bend:.3f} {y + ring:.3f} {x:.3f} {y + ring:.3f} c",
        f"{x - bend:.3f} {y + ring:.3f} {x - ring:.3f} {y + bend:.3f} {x - ring:.3f} {y:.3f} c",
        f"{x - ring:.3f} {y - bend:.3f} {x - bend:.3f} {y - ring:.3f} {x:.3f} {y - ring:.3f} c",
        f"{x + bend:.3f} {y - ring:.3f} {x + ring:.3f} {y - bend:.3f} {x + ring:.3f} {y:.3f} c",
    ]
    return "\n".join(["q /All CS 1 SCN", f"{LINE_POINTS} w", *lines, "S Q"])


def fold(x: float, y: float, dx: float, dy: float) -> str:
    """A dashed line from a point, in the color space /All of the resources."""
    ends = " ".join(f"{length * POINTS:.3f}" for length in (x + dx, y + dy))
    return f"q /All CS 1 SCN {LINE_POINTS} w [1.6 1] 0 d {x * POINTS:.3f} {y * POINTS:.3f} m {ends} l S Q"


def bar_width(spots: Sequence[str] = ()) -> float:
    return PATCH_MM[0] * (len(PATCHES) + 2 * len(spots))


def color_bar(x: float, y: float, spots: Sequence[str] = (), *, times: int = 1) -> str:
    """Patches of each process color and each spot color, several times side by side, from the lower left.

    `spots` are names of color spaces in the resources.
    """
    width, height = PATCH_MM
    inks = [*PATCHES, *(f"{spot} cs {amount} scn" for spot in spots for amount in (1, 0.5))] * times
    return "\n".join(
        f"q {ink} {box(x + index * width, y, width, height)} f Q" for index, ink in enumerate(inks)
    )


def bar_code(text: str, x: float, y: float, *, module: float, height: float) -> str:
    """Code 128 with its quiet zones, from the lower left."""
    _, runs = code_128_runs(text)
    bars = [box(x + start * module, y, width * module, height) for start, _, width in runs]
    return "\n".join(["q", BLACK, *bars, "f Q"])


def bar_code_width(text: str, module: float) -> float:
    return code_128_runs(text)[0] * module


def box(x: float, y: float, width: float, height: float) -> str:
    return " ".join(f"{length * POINTS:.3f}" for length in (x, y, width, height)) + " re"


def save_for_press(pdf: pikepdf.Pdf, *, title: str) -> bytes:
    """A file for an output intent is marked as PDF/X-4. Equal content gives equal bytes."""
    if "/OutputIntents" in pdf.Root:
        identify(pdf, title=title)
    drop(pdf.trailer, "/ID")
    content = io.BytesIO()
    pdf.save(
        content,
        force_version="1.6",
        static_id=True,
        fix_metadata_version=False,
        object_stream_mode=pikepdf.ObjectStreamMode.disable,
    )
    return give_id(content)


def spot_plates(content: bytes) -> tuple[str, ...]:
    """Names of the plates beside those of the process colors, sorted; none where the file cannot be read."""
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            names = {ink for space in _find_spaces(pdf) for ink in _list_inks(space)}
    except pikepdf.PdfError:
        return ()
    return tuple(sorted(names - PROCESS))


def spot_inks(pdf: pikepdf.Pdf) -> dict[str, pikepdf.Object]:
    """The color spaces of spot colors that print, by names for resources, in the order of their plates; tools print
    nothing."""
    space_by_ink: dict[str, pikepdf.Object] = {}
    for space in _find_spaces(pdf):
        if len(inks := _list_inks(space)) == 1 and space[0] == pikepdf.Name.Separation:
            space_by_ink.setdefault(inks[0], space)
    plates = sorted(name for name in space_by_ink if name not in PROCESS and not is_tool(name))
    return {f"/Spot{number}": space_by_ink[name] for number, name in enumerate(plates, 1)}


def _find_spaces(pdf: pikepdf.Pdf) -> Iterator[pikepdf.Object]:
    for item in pdf.objects:
        yield item
        if isinstance(item, pikepdf.Dictionary | pikepdf.Stream):
            yield from _spaces_of(item)


def _spaces_of(holder: pikepdf.Object) -> Iterator[pikepdf.Object]:
    """Color spaces of resources and pictures."""
    resources = holder.get("/Resources", holder)
    spaces = (
        resources.get("/ColorSpace") if isinstance(resources, pikepdf.Dictionary | pikepdf.Stream) else None
    )
    if isinstance(spaces, pikepdf.Dictionary):
        yield from (space for _, space in spaces.items())
    elif spaces is not None:
        yield spaces


def _list_inks(space: pikepdf.Object) -> list[str]:
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


# fontTools reads tables and glyphs when they are first used, and not for two threads at once.
_one_at_a_time = RLock()


class _PathPen(BasePen):
    """Notes PDF path operators with room for their points; converts quadratic curves to cubic ones."""

    def __init__(self, glyphs: Any) -> None:
        super().__init__(glyphs)
        self.operators: list[str] = []
        self.points: list[tuple[float, float]] = []

    def _note_operator(self, operator: str, *points: tuple[float, float]) -> None:
        self.operators.append("%.3f %.3f " * len(points) + operator)
        self.points += points

    def _moveTo(self, pt: tuple[float, float]) -> None:  # noqa: N802
        self._note_operator("m", pt)

    def _lineTo(self, pt: tuple[float, float]) -> None:  # noqa: N802
        self._note_operator("l", pt)

    def _curveToOne(  # noqa: N802
        self, pt1: tuple[float, float], pt2: tuple[float, float], pt3: tuple[float, float]
    ) -> None:
        self._note_operator("c", pt1, pt2, pt3)

    def _closePath(self) -> None:  # noqa: N802
        self._note_operator("h")


@cache
def _open_font() -> tuple[Any, dict[int, str], Any, int, dict[str, tuple[str, list[tuple[float, float]]]]]:
    """Opens the font, with the outlines that were drawn before: all stamps are made of the same letters."""
    font = TTFont(FONT, lazy=True)
    return font.getGlyphSet(), font.getBestCmap(), font["hmtx"], font["head"].unitsPerEm, {}


def text_width(text: str, size: float) -> float:
    with _one_at_a_time:
        _, names, advances, units, _ = _open_font()
        return sum(advances[names.get(ord(letter), ".notdef")][0] for letter in text) * size / units


def text_path(text: str, size: float, x: float, y: float) -> str:
    """Filled outlines of a line of text that begins at x, y; all in points."""
    with _one_at_a_time:
        glyphs, names, advances, units, outlines = _open_font()
        scale, paths = size / units, []
        for letter in text:
            name = names.get(ord(letter), ".notdef")
            if name not in outlines:
                glyphs[name].draw(pen := _PathPen(glyphs))
                outlines[name] = "\n".join(pen.operators), pen.points
            path, points = outlines[name]
            if path:
                paths.append(path % tuple(z for u, v in points for z in (x + u * scale, y + v * scale)))
            x += advances[name][0] * scale
    return "\n".join([*paths, "f"]) if paths else ""
