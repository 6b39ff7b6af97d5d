"""A data set as a CSV file that imports again."""

import io
from collections.abc import Iterator

from delivery.datasets.details import Facts, parse_facts
from delivery.datasets.models import Dataset, Population
from delivery.datasets.populations import SYNTHETIC_MARK, parse_routes
from delivery.datasets.shapes import read_areas, well_known_texts
from fulfillment.core.csv_rows import write_csv_row
from fulfillment.core.db.prepared import fetch_rows

DETAILED = """
SELECT population.postal_code, population.routes, area.shapes, area.facts
FROM delivery_population population LEFT JOIN delivery_area area USING (dataset_id, postal_code)
WHERE population.dataset_id = %s AND population.postal_code > %s ORDER BY population.postal_code LIMIT 500
"""
DETAILED_HEADER = (
    "ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT,MED_INCOME,MED_AGE,AVG_HH_SIZ,FACILITY_NAME,GEOMETRY\n"
)
EXPORT_HEADER = "ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT\n"


def export_lines(dataset: Dataset) -> Iterator[str]:
    """The data set as a CSV that imports to the same populations; invented counts say so in the first line."""
    if dataset.is_synthetic:
        yield f"{SYNTHETIC_MARK}\n"
    if dataset.areas.exists():
        yield from _detailed_lines(dataset)
        return
    yield EXPORT_HEADER
    rows = Population.objects.filter(dataset=dataset).order_by("postal_code")
    for postal_code, text in rows.values_list("postal_code", "routes").iterator(chunk_size=2000):
        yield "".join(
            f"{postal_code},{route},{homes},{firms},{homes + firms}\n"
            for route, homes, firms in parse_routes(text)
        )


def _detailed_lines(dataset: Dataset) -> Iterator[str]:
    """CSV lines with demographics, and shapes as well-known text in the precision of the grid."""
    yield DETAILED_HEADER
    postal_code = ""
    # In pages: a cursor of the server would need a transaction for as long as a slow client reads.
    while rows := fetch_rows(DETAILED, (dataset.pk, postal_code), prepare=False):
        for postal_code, text, shapes, facts in rows:
            yield "".join(_detailed_rows(postal_code, list(parse_routes(text)), shapes, facts))


def _detailed_rows(
    postal_code: str, routes: list[tuple[str, int, int]], shapes: bytes | None, facts: str | None
) -> Iterator[str]:
    facts_of_routes = parse_facts(facts) if facts else [Facts()] * len(routes)
    shape_texts = well_known_texts(read_areas([bytes(shapes or b"")], [len(routes)]).shapes())
    for (route, homes, firms), fact, shape_text in zip(routes, facts_of_routes, shape_texts, strict=True):
        cells = [postal_code, route, homes, firms, homes + firms, fact.income, fact.age, fact.household]
        line = io.StringIO()
        write_csv_row(line, [*cells, fact.facility, shape_text])
        yield line.getvalue().replace("\r\n", "\n")
