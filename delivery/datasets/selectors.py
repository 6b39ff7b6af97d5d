"""Data sets: which one is live, its routes and counts, and how two of them differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from delivery.datasets.models import Dataset, DatasetStatus, LiveDataset, Population
from delivery.datasets.populations import Populations, pack, parse_routes
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


@dataclass(frozen=True)
class CountChange:
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
    changes: list[CountChange]


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
        CountChange(_("ZIP codes"), before.postal_code_count, after.postal_code_count),
        CountChange(_("routes"), before.route_count, after.route_count),
        CountChange(_("residential"), before.residential, after.residential),
        CountChange(_("business"), before.business, after.business),
        CountChange(_("deliveries"), before.total, after.total),
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


def areas_of(dataset: Dataset) -> set[str]:
    """The 3-digit areas with at least one postal code."""
    areas = "SELECT DISTINCT left(postal_code, 3) FROM delivery_population WHERE dataset_id = %s"
    return {area for (area,) in fetch_rows(areas, (dataset.pk,), prepare=False)}


def is_import_running() -> bool:
    """Whether a process holds the import lock; the lock of a killed process is released."""
    return bool(
        fetch_rows(
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [IMPORT_LOCK],
        )
    )
