"""Data sets: which one is live, its routes and counts, and how two of them differ."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from delivery.datasets.details import Facts, facts_of
from delivery.datasets.models import Dataset, DatasetStatus, LiveDataset, Population
from delivery.datasets.populations import SYNTHETIC_MARK, Populations, pack, parse_routes
from delivery.datasets.shapes import read_areas, well_known_texts
from fulfillment.core.csv_rows import write_csv_row
from fulfillment.core.db.prepared import fetch_row, fetch_rows
from fulfillment.core.errors import Unavailable

COMPARE = """
SELECT count(*) FILTER (WHERE before.postal_code IS NULL), count(*) FILTER (WHERE after.postal_code IS NULL),
       count(*) FILTER (WHERE before.body <> after.body),
       (array_agg(after.postal_code ORDER BY after.postal_code) FILTER (WHERE before.postal_code IS NULL))[1:50],
       (array_agg(before.postal_code ORDER BY before.postal_code) FILTER (WHERE after.postal_code IS NULL))[1:50]
FROM (SELECT * FROM delivery_population WHERE dataset_id = %s) before
FULL JOIN (SELECT * FROM delivery_population WHERE dataset_id = %s) after USING (postal_code)
"""
# An arbitrary number that nothing else in the service uses.
IMPORT_LOCK = 5_316_001
# Pointer and bodies are read in one snapshot, so an answer never mixes two data sets. The codes stand in
# a sub-select to hide their number from the planner: it then keeps one plan and does not plan each time.
LOOK_UP = """
SELECT live.id, live.vintage, live.is_synthetic, (
    SELECT convert_to('[' || string_agg(coalesce(population.body,
        '{"PostalCode":"' || requested.code
        || '","ResidentialCount":0,"BusinessCount":0,"TotalCount":0,"Routes":[]}'
    ), ',' ORDER BY requested.place) || ']', 'UTF8')
    FROM unnest((SELECT string_to_array(%s, ','))) WITH ORDINALITY requested(code, place)
    LEFT JOIN delivery_population population
        ON population.dataset_id = live.id AND population.postal_code = requested.code
)
FROM delivery_livedataset pointer JOIN delivery_dataset live ON live.id = pointer.dataset_id
WHERE pointer.id = 1
"""
DETAILED = """
SELECT population.postal_code, population.routes, area.shapes, area.facts
FROM delivery_population population LEFT JOIN delivery_area area USING (dataset_id, postal_code)
WHERE population.dataset_id = %s AND population.postal_code > %s ORDER BY population.postal_code LIMIT 500
"""
DETAILED_HEADER = (
    "ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT,MED_INCOME,MED_AGE,AVG_HH_SIZ,FACILITY_NAME,GEOMETRY\n"
)
EXPORT_HEADER = "ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT\n"


@dataclass(frozen=True)
class Change:
    name: str
    before: int
    after: int

    @property
    def percent(self) -> float | None:
        return (self.after - self.before) * 100 / self.before if self.before else None


@dataclass(frozen=True)
class Comparison:
    added: int
    removed: int
    changed: int
    first_added: list[str]
    first_removed: list[str]
    changes: list[Change]


def live_dataset() -> Dataset | None:
    pointer = LiveDataset.objects.select_related("dataset").first()
    return pointer.dataset if pointer else None


class NoPopulationData(Unavailable):
    code = "population_data_missing"
    retry_after = 300


def active_dataset() -> Dataset:
    dataset = live_dataset()
    if dataset is None:
        raise NoPopulationData("No population data is loaded yet; the operator must import it.")
    return dataset


def loaded_datasets() -> QuerySet[Dataset]:
    return Dataset.objects.exclude(status=DatasetStatus.DISCARDED)


def compare_datasets(before: Dataset, after: Dataset) -> Comparison:
    """What activating `after` in place of `before` would change."""
    [counted] = fetch_rows(COMPARE, (before.pk, after.pk), prepare=False)
    added, removed, changed, first_added, first_removed = counted
    changes = [
        Change(_("ZIP codes"), before.postal_code_count, after.postal_code_count),
        Change(_("routes"), before.route_count, after.route_count),
        Change(_("residential"), before.residential, after.residential),
        Change(_("business"), before.business, after.business),
        Change(_("deliveries"), before.total, after.total),
    ]
    return Comparison(added, removed, changed, first_added or [], first_removed or [], changes)


@dataclass(frozen=True)
class DatasetBody:
    dataset_id: int
    vintage: date
    is_synthetic: bool
    body: bytes


def look_up(postal_codes: Sequence[str]) -> DatasetBody | None:
    """The finished bodies of codes that were checked to be five digits; None without a live data set."""
    row = fetch_row(LOOK_UP, (",".join(postal_codes),))
    return DatasetBody(*row) if row else None


def routes_in(dataset: Dataset, postal_code: str) -> list[tuple[str, int, int]] | None:
    """All routes of a postal code, of every type; None for an unknown one."""
    text = (
        Population.objects.filter(dataset=dataset, postal_code=postal_code)
        .values_list("routes", flat=True)
        .first()
    )
    return None if text is None else list(parse_routes(text))


def stored_populations(dataset: Dataset) -> Populations:
    populations: Populations = {}
    rows = Population.objects.filter(dataset=dataset).values_list("postal_code", "routes")
    for postal_code, text in rows.iterator(chunk_size=5000):
        populations[postal_code] = {route: pack(homes, firms) for route, homes, firms in parse_routes(text)}
    return populations


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


def areas_of(dataset: Dataset) -> set[str]:
    """The 3-digit areas with at least one postal code."""
    areas = "SELECT DISTINCT left(postal_code, 3) FROM delivery_population WHERE dataset_id = %s"
    return {area for (area,) in fetch_rows(areas, (dataset.pk,), prepare=False)}


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
    facts_of_routes = facts_of(facts) if facts else [Facts()] * len(routes)
    shape_texts = well_known_texts(read_areas([bytes(shapes or b"")], [len(routes)]).shapes())
    for (route, homes, firms), fact, shape_text in zip(routes, facts_of_routes, shape_texts, strict=True):
        cells = [postal_code, route, homes, firms, homes + firms, fact.income, fact.age, fact.household]
        line = io.StringIO()
        write_csv_row(line, [*cells, fact.facility, shape_text])
        yield line.getvalue().replace("\r\n", "\n")


def is_import_running() -> bool:
    """Whether a process holds the import lock; the lock of a killed process is released."""
    return bool(
        fetch_rows(
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [IMPORT_LOCK],
        )
    )
