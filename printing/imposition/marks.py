"""Marks beside the pieces: registration crosses, color bars and bar codes, as PDF operators. Lengths are mm."""

import io
from collections.abc import Sequence

import pikepdf

from printing.barcodes import code_128_runs
from printing.press.identity import give_id, identify

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
    return "\n".join(f"q {ink} {box(x + at * width, y, width, height)} f Q" for at, ink in enumerate(inks))


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
    if "/ID" in pdf.trailer:
        del pdf.trailer["/ID"]
    content = io.BytesIO()
    pdf.save(
        content,
        force_version="1.6",
        static_id=True,
        fix_metadata_version=False,
        object_stream_mode=pikepdf.ObjectStreamMode.disable,
    )
    return give_id(content)
