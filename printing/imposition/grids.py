"""Grids of equal pieces on a sheet."""

from dataclasses import dataclass

from printing.imposition.sheets import MARK_OFFSET_MM, GangRequest, Place, Sheet

# Tolerance for rounding of sizes.
SLACK_MM = 1e-6


@dataclass(frozen=True, slots=True)
class Grid:
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


def best_grid(request: GangRequest, sheet: Sheet) -> Grid:
    """The grid with more slots, upright or rotated; raises ValueError if no piece fits."""
    grids = [_grid(request, sheet, rotation) for rotation in (0, 90)]
    best = max(grids, key=lambda grid: grid.columns * grid.rows)
    if best.columns * best.rows < 1:
        raise ValueError(
            f"{request.job_number}: {request.width_mm:g} by {request.height_mm:g} mm with bleed and marks does not fit "
            f"on a sheet of {sheet.width_mm:g} by {sheet.height_mm:g} mm."
        )
    return best


def front_place(grid: Grid, slot: int, job_number: str, page: int = 1) -> Place:
    x, y = grid.corner(slot)
    return Place(job_number, page, x, y, grid.width_mm, grid.height_mm, grid.rotation)


def back_place(front: Place, sheet: Sheet, page: int = 2, *, is_head_to_foot: bool = False) -> Place:
    """The position on the back that lies behind the front after the sheet is turned."""
    x, y, rotation = front.x_mm, front.y_mm, -front.rotation
    if sheet.is_tumbled:
        y, rotation = sheet.height_mm - y - front.height_mm, rotation + 180
    else:
        x = sheet.width_mm - x - front.width_mm
    rotation = (rotation + 180 if is_head_to_foot else rotation) % 360
    return Place(front.job_number, page, x, y, front.width_mm, front.height_mm, rotation)


def _grid(request: GangRequest, sheet: Sheet, rotation: int) -> Grid:
    width, height = request.width_mm, request.height_mm
    if rotation:
        width, height = height, width
    bleed = min(request.bleed_mm, sheet.gutter_mm / 2)
    edge = sheet.margin_mm + sheet.mark_mm + MARK_OFFSET_MM + bleed
    columns = _count(sheet.width_mm - 2 * edge, width, sheet.gutter_mm)
    # A sheet that is turned top to bottom has the slug line of the back at the other end.
    gripper = sheet.bottom_mm - sheet.margin_mm
    slugs = (sheet.slug_mm + gripper) * (2 if sheet.is_tumbled and request.two_sided else 1)
    rows = _count(sheet.height_mm - 2 * edge - slugs, height, sheet.gutter_mm)
    if sheet.is_one_form and request.two_sided:
        columns, rows = (columns, rows - rows % 2) if sheet.is_tumbled else (columns - columns % 2, rows)
    used_width = columns * width + max(columns - 1, 0) * sheet.gutter_mm
    used_height = rows * height + max(rows - 1, 0) * sheet.gutter_mm
    return Grid(
        columns,
        rows,
        width,
        height,
        bleed,
        rotation,
        (sheet.width_mm - used_width) / 2,
        sheet.slug_mm + gripper + (sheet.height_mm - slugs - used_height) / 2,
        sheet.gutter_mm,
    )


def _count(space: float, length: float, gutter: float) -> int:
    return max(0, int((space + gutter + SLACK_MM) / (length + gutter)))
