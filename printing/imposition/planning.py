"""Plans gang sheets with few sheets and layouts, from pieces whose size, bleed and sides are read from their files."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import pikepdf

from printing.imposition.imposing import SIZE_TOLERANCE_MM
from printing.imposition.marks import POINTS
from printing.imposition.runs import plan_runs
from printing.imposition.sheets import MARK_OFFSET_MM, GangRequest, Place, Plan, PlannedSheet, PressSheet

# Tolerance for rounding of sizes.
SLACK_MM = 1e-6
MAX_REQUESTS = 500


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal pieces on a sheet."""

    columns: int
    rows: int
    width_mm: float  # of a piece on the sheet
    height_mm: float
    bleed_mm: float  # that is printed: half the gutter at most
    rotation: int
    left_mm: float
    bottom_mm: float
    gutter_mm: float

    def corner(self, slot: int) -> tuple[float, float]:
        """Slots count from the upper left, row by row."""
        row, column = divmod(slot, self.columns)
        x = self.left_mm + column * (self.width_mm + self.gutter_mm)
        y = self.bottom_mm + (self.rows - 1 - row) * (self.height_mm + self.gutter_mm)
        return x, y


class SheetLayout(NamedTuple):
    """Sheets of one layout: the `run` copies of it, and how many slots each job has; `request` stands for all jobs."""

    request: GangRequest
    grid: Grid
    run: int
    slots: Mapping[str, int]


def best_grid(request: GangRequest, sheet: PressSheet) -> Grid:
    """The grid with more slots, upright or rotated; raises ValueError if no piece fits."""
    grids = [_fit_grid(request, sheet, rotation) for rotation in (0, 90)]
    best = max(grids, key=lambda grid: grid.columns * grid.rows)
    if best.columns * best.rows < 1:
        raise ValueError(
            f"{request.job_number}: {request.width_mm:g} by {request.height_mm:g} mm with bleed and marks does not fit "
            f"on a sheet of {sheet.width_mm:g} by {sheet.height_mm:g} mm."
        )
    return best


def back_place(front: Place, sheet: PressSheet, *, is_head_to_foot: bool = False) -> Place:
    """The position on the back that lies behind the front after the sheet is turned."""
    x, y, rotation = front.x_mm, front.y_mm, -front.rotation
    if sheet.is_tumbled:
        y, rotation = sheet.height_mm - y - front.height_mm, rotation + 180
    else:
        x = sheet.width_mm - x - front.width_mm
    rotation = (rotation + 180 if is_head_to_foot else rotation) % 360
    return Place(front.job_number, 2, x, y, front.width_mm, front.height_mm, rotation)


def _fit_grid(request: GangRequest, sheet: PressSheet, rotation: int) -> Grid:
    width, height = request.width_mm, request.height_mm
    if rotation:
        width, height = height, width
    bleed = min(request.bleed_mm, sheet.gutter_mm / 2)
    edge = sheet.margin_mm + sheet.mark_mm + MARK_OFFSET_MM + bleed
    columns = _count_pieces(sheet.width_mm - 2 * edge, width, sheet.gutter_mm)
    # A sheet that is turned top to bottom has the slug line of the back at the other end.
    gripper = sheet.bottom_mm - sheet.margin_mm
    slugs = (sheet.slug_mm + gripper) * (2 if sheet.is_tumbled and request.is_two_sided else 1)
    rows = _count_pieces(sheet.height_mm - 2 * edge - slugs, height, sheet.gutter_mm)
    if sheet.is_one_form and request.is_two_sided:
        columns, rows = (columns, rows - rows % 2) if sheet.is_tumbled else (columns - columns % 2, rows)
    used_width = columns * width + max(columns - 1, 0) * sheet.gutter_mm
    used_height = rows * height + max(rows - 1, 0) * sheet.gutter_mm
    return Grid(
        columns=columns,
        rows=rows,
        width_mm=width,
        height_mm=height,
        bleed_mm=bleed,
        rotation=rotation,
        left_mm=(sheet.width_mm - used_width) / 2,
        bottom_mm=sheet.slug_mm + gripper + (sheet.height_mm - slugs - used_height) / 2,
        gutter_mm=sheet.gutter_mm,
    )


def _count_pieces(space: float, length: float, gutter: float) -> int:
    return max(0, int((space + gutter + SLACK_MM) / (length + gutter)))


def plan_sheets(requests: Sequence[GangRequest], sheet: PressSheet) -> Plan:
    """Plans sheets, independent of the order of requests; raises ValueError with a job that does not fit."""
    numbers = [request.job_number for request in requests]
    if len(set(numbers)) < len(numbers):
        raise ValueError("Name each job only once.")
    if len(requests) > MAX_REQUESTS:
        raise ValueError(f"At most {MAX_REQUESTS} jobs are planned at once.")
    layouts: list[SheetLayout] = []
    capacity = 0
    for _, members in groupby(sorted(requests, key=attrgetter("kind", "job_number")), key=attrgetter("kind")):
        group = list(members)
        grid = best_grid(group[0], sheet)
        slots, yields = _count_slots(group[0], grid, sheet)
        quantities = {request.job_number: -(-request.quantity // yields) for request in group}
        for run, counts in plan_runs(quantities, slots, sheet.overs):
            layouts.append(SheetLayout(group[0], grid, run, counts))
            capacity += (run + sheet.overs(run)) * slots * yields
    sheets = [
        _plan_sheet(layout, sheet, number=number, of=len(layouts)) for number, layout in enumerate(layouts, 1)
    ]
    ordered = {request.job_number: request.quantity for request in requests}
    produced = dict.fromkeys(ordered, 0)
    for planned in sheets:
        for number, count in planned.counts.items():
            produced[number] += planned.run * count
    waste = 1 - sum(ordered.values()) / capacity if capacity else 0.0
    return Plan(sheets, ordered, produced, waste)


def _count_slots(request: GangRequest, grid: Grid, sheet: PressSheet) -> tuple[int, int]:
    """The number of slots on a sheet, and how many pieces each slot yields."""
    places = grid.columns * grid.rows
    return (places // 2, 2) if request.is_two_sided and sheet.is_one_form else (places, 1)


def _plan_sheet(layout: SheetLayout, sheet: PressSheet, *, number: int, of: int) -> PlannedSheet:
    request, grid = layout.request, layout.grid
    _, yields = _count_slots(request, grid, sheet)
    jobs = [job for job, count in sorted(layout.slots.items()) for _ in range(count)]
    # Column by column, so that the pieces of a job lie on piles beside each other.
    columns, rows = grid.columns, grid.rows
    if yields == 2:
        columns, rows = (columns, rows // 2) if sheet.is_tumbled else (columns // 2, rows)
    slots = [row * grid.columns + column for column in range(columns) for row in range(rows)]
    fronts = [
        Place(job, 1, *grid.corner(slot), grid.width_mm, grid.height_mm, grid.rotation)
        for slot, job in zip(slots, jobs, strict=False)
    ]
    sides = fronts if request.is_two_sided else []
    backs = [back_place(place, sheet, is_head_to_foot=request.is_head_to_foot) for place in sides]
    if yields == 2:
        # Both sides are printed with the same form.
        fronts, backs = [*fronts, *backs], []
    return PlannedSheet(
        number=number,
        of=of,
        run=layout.run,
        sheet=sheet,
        bleed_mm=grid.bleed_mm,
        preset=request.preset,
        fronts=tuple(fronts),
        backs=tuple(backs),
        counts={job: count * yields for job, count in sorted(layout.slots.items())},
        is_head_to_foot=request.is_head_to_foot,
        panels=request.panels,
    )


class Piece(NamedTuple):
    """A piece as its file has it: the size of its first page, and the least bleed of all sides and pages, in mm."""

    pages: int
    size_mm: tuple[float, float]
    bleed_mm: float

    def has_size(self, size_mm: tuple[float, float]) -> bool:
        pairs = zip(self.size_mm, size_mm, strict=True)
        return all(abs(side - expected) <= SIZE_TOLERANCE_MM for side, expected in pairs)


def piece_of(content: bytes) -> Piece | None:
    """Measures the piece; None where the file cannot be read."""
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            boxes = _read_boxes(pdf)
    except pikepdf.PdfError:
        return None
    if not boxes:
        return None
    trim = boxes[0][0]
    size = round((trim[2] - trim[0]) / POINTS, 3), round((trim[3] - trim[1]) / POINTS, 3)
    return Piece(len(boxes), size, round(_least_bleed(boxes), 3))


# The trim and the bleed of a page, in points.
_Boxes = tuple[list[float], list[float]]


def _read_boxes(pdf: pikepdf.Pdf) -> list[_Boxes]:
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
            boxes = _read_boxes(pdf)
    except pikepdf.PdfError as error:
        raise ValueError(f"{job_number}: the print file is not a PDF that can be read.") from error
    if not 1 <= len(boxes) <= 2:
        raise ValueError(f"{job_number}: it has {len(boxes)} pages; gang sheets take cards of one or two.")
    sizes = [((trim[2] - trim[0]) / POINTS, (trim[3] - trim[1]) / POINTS) for trim, _ in boxes]
    if any(abs(front - back) > SIZE_TOLERANCE_MM for front, back in zip(sizes[0], sizes[-1], strict=True)):
        raise ValueError(f"{job_number}: its two pages are not of one size.")
    return GangRequest(
        job_number=job_number,
        # Rounded, because files of one product differ slightly.
        width_mm=round(sizes[0][0], 1),
        height_mm=round(sizes[0][1], 1),
        bleed_mm=round(min(_least_bleed(boxes), 20.0), 1),
        quantity=quantity,
        is_two_sided=len(boxes) == 2,
        preset=preset,
        is_head_to_foot=is_head_to_foot,
    )
