"""Reads size, bleed and sides of a piece from its print file."""

import io
from collections.abc import Sequence
from typing import NamedTuple

import pikepdf

from printing.imposition.imposing import SIZE_TOLERANCE_MM
from printing.imposition.marks import POINTS
from printing.imposition.sheets import GangRequest


class Piece(NamedTuple):
    """What is printed, by its file: the size of its first page and the least bleed of all sides and pages, in mm."""

    pages: int
    size_mm: tuple[float, float]
    bleed_mm: float

    def has_size(self, size_mm: tuple[float, float]) -> bool:
        pairs = zip(self.size_mm, size_mm, strict=True)
        return all(abs(one - other) <= SIZE_TOLERANCE_MM for one, other in pairs)


def piece_of(content: bytes) -> Piece | None:
    """None where the file cannot be read."""
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            boxes = _boxes(pdf)
    except pikepdf.PdfError:
        return None
    if not boxes:
        return None
    trim = boxes[0][0]
    size = round((trim[2] - trim[0]) / POINTS, 3), round((trim[3] - trim[1]) / POINTS, 3)
    return Piece(len(boxes), size, round(_least_bleed(boxes), 3))


# The trim and the bleed of a page, in points.
_Boxes = tuple[list[float], list[float]]


def _boxes(pdf: pikepdf.Pdf) -> list[_Boxes]:
    return [
        ([float(edge) for edge in page.trimbox], [float(edge) for edge in page.bleedbox])
        for page in pdf.pages
    ]


def _least_bleed(boxes: Sequence[_Boxes]) -> float:
    edges = [
        edge / POINTS
        for trim, outer in boxes
        for edge in (trim[0] - outer[0], trim[1] - outer[1], outer[2] - trim[2], outer[3] - trim[3])
    ]
    return max(min(edges, default=0.0), 0.0)


def request_of(
    job_number: str, content: bytes, *, quantity: int, preset: str, is_head_to_foot: bool = False
) -> GangRequest:
    """Size, bleed and sides by the boxes of the file; raises ValueError where it cannot share a sheet."""
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            boxes = _boxes(pdf)
    except pikepdf.PdfError as error:
        raise ValueError(f"{job_number}: the print file is not a PDF that can be read.") from error
    if not 1 <= len(boxes) <= 2:
        raise ValueError(f"{job_number}: it has {len(boxes)} pages; gang sheets take cards of one or two.")
    sizes = [((trim[2] - trim[0]) / POINTS, (trim[3] - trim[1]) / POINTS) for trim, _ in boxes]
    if any(abs(one - other) > SIZE_TOLERANCE_MM for one, other in zip(sizes[0], sizes[-1], strict=True)):
        raise ValueError(f"{job_number}: its two pages are not of one size.")
    return GangRequest(
        job_number,
        # Rounded, because files of one product differ slightly.
        round(sizes[0][0], 1),
        round(sizes[0][1], 1),
        round(min(_least_bleed(boxes), 20.0), 1),
        quantity,
        len(boxes) == 2,
        preset,
        is_head_to_foot,
    )
