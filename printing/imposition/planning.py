"""Plans gang sheets with few layouts and little waste."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from printing.imposition.grids import Grid, back_place, best_grid, front_place
from printing.imposition.sheets import GangRequest, Plan, PlannedSheet, Sheet

# The plan ends with a layout whose waste is at most this share; otherwise one more layout is added.
GOOD_WASTE = 0.04
MAX_REQUESTS = 500


def plan_sheets(requests: Sequence[GangRequest], sheet: Sheet) -> Plan:
    """Plans sheets, independent of the order of requests; raises ValueError with a job that does not fit."""
    numbers = [request.job_number for request in requests]
    if len(set(numbers)) < len(numbers):
        raise ValueError("A job may be named once only.")
    if len(requests) > MAX_REQUESTS:
        raise ValueError(f"At most {MAX_REQUESTS} jobs are planned at once.")
    layouts: list[tuple[GangRequest, Grid, int, Mapping[str, int]]] = []
    capacity = 0
    for _, members in groupby(
        sorted(requests, key=lambda one: (one.kind, one.job_number)), key=lambda one: one.kind
    ):
        group = list(members)
        grid = best_grid(group[0], sheet)
        slots, yields = _slots(group[0], grid, sheet)
        quantities = {one.job_number: -(-one.quantity // yields) for one in group}
        for run, counts in plan_runs(quantities, slots):
            layouts.append((group[0], grid, run, counts))
            capacity += run * slots * yields
    sheets = [_planned(number, len(layouts), sheet, *layout) for number, layout in enumerate(layouts, 1)]
    ordered = {request.job_number: request.quantity for request in requests}
    produced = dict.fromkeys(ordered, 0)
    for one in sheets:
        for number, count in one.counts.items():
            produced[number] += one.run * count
    waste = 1 - sum(ordered.values()) / capacity if capacity else 0.0
    return Plan(sheets, ordered, produced, waste)


def plan_runs(quantities: Mapping[str, int], slots: int) -> list[tuple[int, dict[str, int]]]:
    """Plans layouts as (sheets to print, slots of each job); each job gets the requested pieces or a few more.

    Layouts that fill every slot with requested pieces come first, the longest run first. A layout that finishes all
    remaining jobs ends the plan once its waste is small; the last one wastes less than a sheet.
    """
    left = dict(quantities)
    layouts: list[tuple[int, dict[str, int]]] = []
    total, used = sum(quantities.values()), 0
    least = -(-total // slots)
    while left:
        run = _finishing_run(left, slots)
        if run is not None and (used + run <= least or 1 - total / ((used + run) * slots) <= GOOD_WASTE):
            counts = {number: -(-count // run) for number, count in left.items()}
            return [*layouts, (run, counts)]
        run, counts = _full_layout(left, slots)
        layouts.append((run, counts))
        used += run
        left = {number: count - run * counts.get(number, 0) for number, count in left.items()}
        left = {number: count for number, count in left.items() if count > 0}
    return layouts


def _finishing_run(left: Mapping[str, int], slots: int) -> int | None:
    """The shortest run of one layout for all remaining pieces; None for more jobs than slots."""
    if len(left) > slots:
        return None
    low, high = 1, max(left.values())
    while low < high:
        middle = (low + high) // 2
        if sum(-(-count // middle) for count in left.values()) <= slots:
            high = middle
        else:
            low = middle + 1
    return low


def _full_layout(left: Mapping[str, int], slots: int) -> tuple[int, dict[str, int]]:
    """The longest run that fills every slot without surplus pieces."""
    low, high = 1, max(left.values())
    while low < high:
        middle = (low + high + 1) // 2
        if sum(count // middle for count in left.values()) >= slots:
            low = middle
        else:
            high = middle - 1
    counts: dict[str, int] = {}
    free = slots
    for number in sorted(left, key=lambda one: (-left[one], one)):
        if taken := min(free, left[number] // low):
            counts[number] = taken
            free -= taken
    return low, counts


def _slots(request: GangRequest, grid: Grid, sheet: Sheet) -> tuple[int, int]:
    """The number of slots on a sheet, and how many pieces each slot yields."""
    places = grid.columns * grid.rows
    return (places // 2, 2) if request.two_sided and sheet.is_one_form else (places, 1)


def _planned(
    number: int,
    of: int,
    sheet: Sheet,
    request: GangRequest,
    grid: Grid,
    run: int,
    counts: Mapping[str, int],
) -> PlannedSheet:
    _, yields = _slots(request, grid, sheet)
    jobs = [job for job, count in sorted(counts.items()) for _ in range(count)]
    # Column by column, so that the pieces of a job lie on piles beside each other.
    columns, rows = grid.columns, grid.rows
    if yields == 2:
        columns, rows = (columns, rows // 2) if sheet.is_tumbled else (columns // 2, rows)
    slots = [row * grid.columns + column for column in range(columns) for row in range(rows)]
    fronts = [front_place(grid, slot, job) for slot, job in zip(slots, jobs, strict=False)]
    turned = request.is_head_to_foot
    backs = (
        [back_place(place, sheet, is_head_to_foot=turned) for place in fronts] if request.two_sided else []
    )
    if yields == 2:
        # Both sides are printed with the same form.
        fronts, backs = [*fronts, *backs], []
    return PlannedSheet(
        number,
        of,
        run,
        sheet,
        grid.bleed_mm,
        request.preset,
        tuple(fronts),
        tuple(backs),
        {job: count * yields for job, count in sorted(counts.items())},
    )
