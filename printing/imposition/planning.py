"""Plans gang sheets with few sheets and layouts."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from printing.imposition.grids import Grid, back_place, best_grid, front_place
from printing.imposition.runs import plan_runs
from printing.imposition.sheets import GangRequest, Plan, PlannedSheet, Sheet

MAX_REQUESTS = 500


def plan_sheets(requests: Sequence[GangRequest], sheet: Sheet) -> Plan:
    """Plans sheets, independent of the order of requests; raises ValueError with a job that does not fit."""
    numbers = [request.job_number for request in requests]
    if len(set(numbers)) < len(numbers):
        raise ValueError("Name each job only once.")
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
        for run, counts in plan_runs(quantities, slots, sheet.overs):
            layouts.append((group[0], grid, run, counts))
            capacity += (run + sheet.overs(run)) * slots * yields
    sheets = [_planned(number, len(layouts), sheet, *layout) for number, layout in enumerate(layouts, 1)]
    ordered = {request.job_number: request.quantity for request in requests}
    produced = dict.fromkeys(ordered, 0)
    for one in sheets:
        for number, count in one.counts.items():
            produced[number] += one.run * count
    waste = 1 - sum(ordered.values()) / capacity if capacity else 0.0
    return Plan(sheets, ordered, produced, waste)


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
        turned,
        request.panels,
    )
