"""A selection as CSV for a mail house, with the columns of the USPS map service."""

import io
from collections.abc import Iterator

from delivery.datasets.populations import SYNTHETIC_MARK
from delivery.selection.models import EddmSelection
from delivery.selection.selectors.selections import routes_of_selection
from fulfillment.core.csv_rows import write_csv_row

COLUMNS = (
    *("ZIP_CODE", "CRID_ID", "RES_CNT", "BUS_CNT", "TOT_CNT", "PIECES", "FACILITY_NAME"),
    *("MED_INCOME", "MED_AGE", "AVG_HH_SIZ"),
)


def selection_lines(selection: EddmSelection) -> Iterator[str]:
    """Invented counts say so in the first line, as in exports of data sets."""
    if selection.is_synthetic:
        yield f"{SYNTHETIC_MARK}\r\n"
    yield _line(COLUMNS)
    for route in routes_of_selection(selection).iterator(chunk_size=1000):
        yield _line(
            (
                *(route.postal_code, route.carrier_route, route.residential, route.business, route.total),
                *(route.pieces, route.facility_name),
                *(route.median_income, route.median_age, route.household_size),
            )
        )


def _line(cells: tuple[object, ...]) -> str:
    line = io.StringIO()
    write_csv_row(line, cells)
    return line.getvalue()
