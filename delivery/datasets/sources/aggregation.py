"""Gathers the rows of a file by postal code, in any order."""

from collections.abc import Callable
from itertools import islice

from delivery.datasets.details import Details
from delivery.datasets.populations import Populations, pack
from delivery.datasets.problems import BadRouteFile, ProblemLog
from delivery.datasets.sources.cells import DetailedRow, Row, Source, read_count, read_postal_code, read_route

PHANTOM = "R777"
BATCH = 5000
# Some five times as many routes as the whole country has; they are gathered in memory.
MAX_ROWS = 3_000_000


def aggregate_routes(
    source: Source, log: ProblemLog, progress: Callable[[int], None] = lambda rows: None
) -> tuple[Populations, int]:
    """The populations and the number of rows read; `progress` hears of every 5,000 rows."""
    populations: Populations = {}
    count = 0
    while batch := list(islice(source.rows, BATCH)):
        if source.details is None:
            for row in batch:
                _add_row(row, populations, log)
        else:
            _add_detailed(batch, populations, source.details, log)
        count += len(batch)
        if count > MAX_ROWS:
            raise BadRouteFile(f"The file has more than {MAX_ROWS:,} lines; the country has fewer routes.")
        progress(count)
    return populations, count


def _add_detailed(
    batch: list[DetailedRow], populations: Populations, details: Details, log: ProblemLog
) -> None:
    for row in batch:
        added_route = _add_row(row[:6], populations, log)
        if added_route is not None:
            details.add(row[0], *added_route, row[6], log)
    details.pack(log)


def _add_row(row: Row, populations: Populations, log: ProblemLog) -> tuple[str, str] | None:
    """The postal code and route that were taken from the row, or None."""
    line, zip_cell, route_cell, residential_cell, business_cell, total_cell = row
    route, postal_code, route_flaw = read_route(route_cell)
    if postal_code and not zip_cell:
        zip_flaw = ""
    else:
        postal_code, zip_flaw = read_postal_code(zip_cell)
    residential, residential_flaw = read_count(residential_cell)
    business, business_flaw = read_count(business_cell)
    if zip_flaw or route_flaw or residential_flaw or business_flaw or residential is None or business is None:
        flaws = (zip_flaw, route_flaw, residential_flaw, business_flaw)
        completed = _complete_counts(row, flaws, residential, business, log)
        if completed is None:
            return None
        residential, business = completed
    if total_cell and read_count(total_cell)[0] != residential + business:
        log.add(line, "total", total_cell, "W_TOTAL")
    if route == PHANTOM:
        log.add(line, "route", route_cell, "W_PHANTOM")
        return None
    routes = populations.setdefault(postal_code, {})
    counts = pack(residential, business)
    if route not in routes:
        routes[route] = counts
        return postal_code, route
    log.add(line, "route", route_cell, "W_DUP_SAME" if routes[route] == counts else "E_DUP_DIFF")
    return None


def _complete_counts(
    row: Row,
    flaws: tuple[str, str, str, str],
    residential: int | None,
    business: int | None,
    log: ProblemLog,
) -> tuple[int, int] | None:
    """Logs what is wrong and derives a missing count from the total; None for a line that is rejected."""
    line, *cells, total_cell = row
    fields = ("zip", "route", "residential", "business")
    if any(cell.strip().lower().startswith(("total", "grand total")) for cell in cells[:2]):
        log.add(line, "", " ".join(row[1:]), "W_FOOTER")
        return None
    errors = [(index, flaw) for index, flaw in enumerate(flaws) if flaw.startswith("E")]
    if not errors and None in (residential, business):
        residential, business = _derive_counts(residential, business, read_count(total_cell)[0])
        if residential is None or business is None:
            errors = [(2 if not cells[2].strip() else 3, "E_EMPTY")]
        else:
            log.add(line, "total", total_cell, "W_DERIVED")
    if errors:
        log.add(line, fields[errors[0][0]], cells[errors[0][0]], errors[0][1])
        return None
    for index, flaw in enumerate(flaws):
        if flaw:
            log.add(line, fields[index], cells[index], flaw)
    return residential, business  # type: ignore[return-value]  # both were derived above


def _derive_counts(
    residential: int | None, business: int | None, total: int | None
) -> tuple[int | None, int | None]:
    if total is not None and residential is None and business is not None and business <= total:
        return total - business, business
    if total is not None and business is None and residential is not None and residential <= total:
        return residential, total - residential
    return None, None
