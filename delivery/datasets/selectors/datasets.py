from dataclasses import dataclass

from django.db import connection
from django.db.models import QuerySet

from delivery.datasets.models import Dataset, DatasetStatus, LiveDataset
from fulfillment.core.errors import Unavailable

COMPARE = """
SELECT count(*) FILTER (WHERE before.postal_code IS NULL), count(*) FILTER (WHERE after.postal_code IS NULL),
       count(*) FILTER (WHERE before.body <> after.body),
       (array_agg(after.postal_code ORDER BY after.postal_code) FILTER (WHERE before.postal_code IS NULL))[1:50],
       (array_agg(before.postal_code ORDER BY before.postal_code) FILTER (WHERE after.postal_code IS NULL))[1:50]
FROM (SELECT * FROM delivery_population WHERE dataset_id = %s) before
FULL JOIN (SELECT * FROM delivery_population WHERE dataset_id = %s) after USING (postal_code)
"""


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
    with connection.cursor() as cursor:
        cursor.execute(COMPARE, [before.pk, after.pk])
        added, removed, changed, first_added, first_removed = cursor.fetchone()
    return Comparison(
        added, removed, changed, first_added or [], first_removed or [], changes_between(before, after)
    )


def changes_between(before: Dataset, after: Dataset) -> list[Change]:
    return [
        Change("ZIP codes", before.postal_code_count, after.postal_code_count),
        Change("routes", before.route_count, after.route_count),
        Change("residential", before.residential, after.residential),
        Change("business", before.business, after.business),
        Change("deliveries", before.total, after.total),
    ]
