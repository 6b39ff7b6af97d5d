"""Finds layouts and their runs: few sheets with their overs, and few layouts."""

import heapq
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter

# The sheets to print of a layout, without overs, and the slots of each job on it.
Layout = tuple[int, dict[str, int]]
Overs = Callable[[int], int]
# What one more layout weighs, in sheets: plates or a file, its proof, and its own stack to cut.
SETUP_SHEETS = 5
# The fallback ends with a layout whose waste is at most this share; otherwise one more layout is added.
GOOD_WASTE = 0.04
# Limits of the search, so that a hundred jobs are planned in a second or so: more jobs and layouts, fewer states.
MAX_STATES, MAX_WORK, MAX_RUNS, MAX_ENDS = 8, 10_000, 16, 3


def plan_runs(quantities: Mapping[str, int], slots: int, overs: Overs = lambda run: 0) -> list[Layout]:
    """Layouts for all requested pieces, the longest run first. Overs print no requested piece.

    The search is a limited one. Its result has never more sheets than the fallback, which fills every slot.
    """
    quantities = dict(sorted(quantities.items()))

    def sheet_count(layouts: Sequence[Layout]) -> int:
        return sum(run + overs(run) for run, _ in layouts)

    def cost(layouts: Sequence[Layout]) -> int:
        return sheet_count(layouts) + SETUP_SHEETS * len(layouts)

    fallback = _full_layouts(quantities, slots)
    ends = _search_plans(quantities, slots, lambda run: run + overs(run) + SETUP_SHEETS, fallback)
    plans = [
        _merge_layouts(candidate, quantities, sheet_count)
        for candidate in [fallback, *heapq.nsmallest(MAX_ENDS, ends, key=cost)]
    ]
    max_sheets = sheet_count(fallback)
    best = min((candidate for candidate in plans if sheet_count(candidate) <= max_sheets), key=cost)
    return sorted(best, key=itemgetter(0), reverse=True)


def _search_plans(
    quantities: Mapping[str, int], slots: int, price: Overs, fallback: Sequence[Layout]
) -> list[list[Layout]]:
    """Plans found by adding layouts to the most promising beginnings."""
    best = sum(price(run) for run, _ in fallback)
    width = min(MAX_STATES, MAX_WORK // (len(quantities) * len(fallback)))
    ends: list[list[Layout]] = []
    states: list[tuple[int, int, Mapping[str, int], list[Layout]]] = [(0, 0, quantities, [])]
    for _ in range(len(fallback) + 2):
        next_states = []
        for _, paid, missing, layouts in states:
            for run, counts in _next_layouts(missing, slots):
                cost = paid + price(run)
                still_missing = _subtract_run(missing, run, counts)
                least = cost + _estimate_cost(still_missing, slots, price)
                if least <= best and not still_missing:
                    best = cost
                    ends.append([*layouts, (run, counts)])
                elif least < best:
                    next_states.append((least, cost, still_missing, [*layouts, (run, counts)]))
        states = heapq.nsmallest(width, next_states, key=itemgetter(0, 1))
    return ends


def _subtract_run(missing: Mapping[str, int], run: int, counts: Mapping[str, int]) -> dict[str, int]:
    still_missing = {number: count - run * counts.get(number, 0) for number, count in missing.items()}
    return {number: count for number, count in still_missing.items() if count > 0}


def _estimate_cost(missing: Mapping[str, int], slots: int, price: Overs) -> int:
    """The least cost of the pieces: full sheets, and as few layouts as can hold the jobs."""
    if not missing:
        return 0
    layouts = -(-len(missing) // slots)
    return layouts * price(-(-sum(missing.values()) // slots) // layouts)


def _next_layouts(missing: Mapping[str, int], slots: int) -> Iterator[Layout]:
    finishing = _finishing_run(missing, slots)
    if finishing is not None:
        yield finishing, {number: -(-count // finishing) for number, count in missing.items()}
    full, counts = _full_layout(missing, slots)
    yield full, counts
    for run in _runs_near(missing, full, slots):
        yield run, _fill_slots(missing, slots, run)
        yield run, _finish_jobs(missing, slots, run)


def _runs_near(missing: Mapping[str, int], full: int, slots: int) -> list[int]:
    """Runs that finish a job, or leave little of it, between half and twice that of a full layout."""
    runs = {full, full + 1}
    for count in missing.values():
        for places in range(max(1, count // (2 * full)), min(slots, 2 * count // full) + 1):
            runs |= {count // places, -(-count // places)}
    near = sorted(run for run in runs if max(1, full // 2) <= run <= 2 * full + 1)
    if len(near) <= MAX_RUNS:
        return near
    return [near[index * (len(near) - 1) // (MAX_RUNS - 1)] for index in range(MAX_RUNS)]


def _fill_slots(missing: Mapping[str, int], slots: int, run: int) -> dict[str, int]:
    """Requested pieces, of the largest jobs first; then spare slots for those with the most pieces left."""
    counts, free_slots = _without_surplus(missing, slots, run, {})
    rest = {number: count % run for number, count in missing.items() if counts.get(number, 0) == count // run}
    for number in sorted(rest, key=lambda job: (-rest[job], job))[:free_slots]:
        if rest[number]:
            counts[number] = counts.get(number, 0) + 1
    return counts


def _finish_jobs(missing: Mapping[str, int], slots: int, run: int) -> dict[str, int]:
    """Jobs that the run finishes with the least surplus in each slot; then requested pieces of others."""
    counts: dict[str, int] = {}
    free_slots = slots
    places = {number: -(-count // run) for number, count in missing.items()}
    surplus = {number: (places[number] * run - count) / places[number] for number, count in missing.items()}
    for number in sorted(missing, key=lambda job: (surplus[job], job)):
        if places[number] <= free_slots:
            counts[number] = places[number]
            free_slots -= places[number]
    return _without_surplus(missing, free_slots, run, counts)[0] or _fill_slots(missing, slots, run)


def _without_surplus(
    missing: Mapping[str, int], free_slots: int, run: int, counts: dict[str, int]
) -> tuple[dict[str, int], int]:
    for number in sorted(missing, key=lambda job: (-missing[job], job)):
        if number not in counts and (count := min(free_slots, missing[number] // run)):
            counts[number] = count
            free_slots -= count
    return counts, free_slots


def _merge_layouts(
    layouts: Sequence[Layout], quantities: Mapping[str, int], sheet_count: Callable[[Sequence[Layout]], int]
) -> list[Layout]:
    """Removes layouts that longer runs of the others replace at no more sheets, and needless sheets."""
    trimmed = _trim_runs(layouts, quantities)
    for index in sorted(range(len(trimmed)), key=lambda position: trimmed[position][0]):
        replacements = _cover_pieces([*trimmed[:index], *trimmed[index + 1 :]], trimmed[index], quantities)
        shorter = None if replacements is None else _trim_runs(replacements, quantities)
        if shorter is not None and sheet_count(shorter) <= sheet_count(trimmed):
            return _merge_layouts(shorter, quantities, sheet_count)
    return trimmed


def _cover_pieces(layouts: list[Layout], gone: Layout, quantities: Mapping[str, int]) -> list[Layout] | None:
    """The layouts with longer runs, so that they give the pieces of one that is gone."""
    for number in gone[1]:
        short = quantities[number] - sum(run * counts.get(number, 0) for run, counts in layouts)
        if short > 0:
            most = max(range(len(layouts)), key=lambda index: layouts[index][1].get(number, 0), default=None)
            if most is None or number not in layouts[most][1]:
                return None
            run, counts = layouts[most]
            layouts[most] = (run + -(-short // counts[number]), counts)
    return layouts


def _trim_runs(layouts: Sequence[Layout], quantities: Mapping[str, int]) -> list[Layout]:
    """Each run as short as the others allow, the shortest first; a layout without a run is gone."""
    spare = {number: -count for number, count in quantities.items()}
    for run, counts in layouts:
        for number, count in counts.items():
            spare[number] += run * count
    tight = []
    for run, counts in sorted(layouts, key=itemgetter(0)):
        fewer = min(run, *(spare[number] // count for number, count in counts.items()))
        for number, count in counts.items():
            spare[number] -= fewer * count
        if run > fewer:
            tight.append((run - fewer, counts))
    return tight


def _full_layouts(quantities: Mapping[str, int], slots: int) -> list[Layout]:
    """Layouts that fill every slot with requested pieces, the longest run first.

    A layout that finishes all remaining jobs ends the plan once its waste is small; the last one wastes less than a
    sheet.
    """
    missing = dict(quantities)
    layouts: list[Layout] = []
    total, sheets = sum(quantities.values()), 0
    least = -(-total // slots)
    while missing:
        run = _finishing_run(missing, slots)
        if run is not None and (sheets + run <= least or 1 - total / ((sheets + run) * slots) <= GOOD_WASTE):
            counts = {number: -(-count // run) for number, count in missing.items()}
            return [*layouts, (run, counts)]
        run, counts = _full_layout(missing, slots)
        layouts.append((run, counts))
        sheets += run
        missing = _subtract_run(missing, run, counts)
    return layouts


def _finishing_run(missing: Mapping[str, int], slots: int) -> int | None:
    """The shortest run of one layout for all remaining pieces; None for more jobs than slots."""
    if len(missing) > slots:
        return None
    shorter = range(1, max(missing.values()))
    return 1 + bisect_left(
        shorter, True, key=lambda run: sum(-(-count // run) for count in missing.values()) <= slots
    )


def _full_layout(missing: Mapping[str, int], slots: int) -> tuple[int, dict[str, int]]:
    """The longest run that fills every slot without surplus pieces."""
    longer = range(2, max(missing.values()) + 1)
    counts = missing.values()
    run = 1 + bisect_left(longer, True, key=lambda run: sum(count // run for count in counts) < slots)
    return run, _without_surplus(missing, slots, run, {})[0]
