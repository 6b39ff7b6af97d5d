"""Data sets as versions: stored beside the live one, checked, then activated by moving one pointer."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from delivery.datasets.details import Details
from delivery.datasets.models import Area, Dataset, DatasetStatus, LiveDataset, Population
from delivery.datasets.populations import (
    Populations,
    Totals,
    count_totals,
    format_routes,
    render_body,
    sum_types,
)
from delivery.datasets.selectors import areas_of, stored_populations
from fulfillment.core.db.copying import copy_rows
from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import Conflict, NotFound

STORED_SETS = 2
POPULATION_COLUMNS = ("dataset_id", "postal_code", "residential", "business", "routes", "body")
AREA_COLUMNS = ("dataset_id", "postal_code", "box", "shapes", "shape_count", "facts")
# Copies the areas of postal codes whose routes are unchanged.
COPY_UNCHANGED_AREAS = """
INSERT INTO delivery_area (dataset_id, postal_code, box, shapes, shape_count, facts)
SELECT %s, postal_code, box, shapes, shape_count, facts FROM delivery_area
WHERE dataset_id = %s AND postal_code <> ALL(%s)
"""
PROGRESS_EVERY = 500
TOLERANCE = 0.10
NAMED = 20


@dataclass(frozen=True)
class Origin:
    """Where a data set comes from."""

    vintage: date
    source_format: str
    file_name: str
    sha256: str
    created_by: str = ""
    is_synthetic: bool = False
    is_merged: bool = False


@dataclass(frozen=True)
class UnchangedRoutes:
    """The routes of an earlier data set, except those of replaced postal codes."""

    dataset_id: int
    replaced: frozenset[str] = frozenset()


def lock_live_dataset() -> LiveDataset:
    """Serialises activations; look-ups do not wait for it."""
    pointer, _ = LiveDataset.objects.select_for_update().get_or_create(pk=1)
    return pointer


@long_transaction()
def store_populations(
    *,
    populations: Populations,
    route_types: str,
    origin: Origin,
    totals: Totals | None = None,
    concerns: Sequence[str] = (),
    details: Details | None = None,
    unchanged: UnchangedRoutes | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Dataset:
    """Writes a new data set, ready to be activated.

    `details` are of the routes of a file, `unchanged` says which routes come from an earlier data set with theirs.
    """
    totals = count_totals(populations) if totals is None else totals
    routes, residential, business = sum_types(totals, route_types)
    dataset = Dataset.objects.create(
        **vars(origin),
        route_types=route_types,
        postal_code_count=len(populations),
        totals_by_type=totals,
        route_count=routes,
        residential=residential,
        business=business,
        concerns=list(concerns),
    )
    _copy_populations(dataset, populations, progress)
    _copy_areas(dataset, populations, details, unchanged)
    return dataset


def _copy_areas(
    dataset: Dataset, populations: Populations, details: Details | None, unchanged: UnchangedRoutes | None
) -> None:
    if details is not None:
        copy_rows("delivery_area", AREA_COLUMNS, _area_rows(dataset, populations, details))
    with connection.cursor() as cursor:
        if unchanged is not None:
            cursor.execute(
                COPY_UNCHANGED_AREAS, [dataset.pk, unchanged.dataset_id, sorted(unchanged.replaced)]
            )
        if details is not None or unchanged is not None:
            cursor.execute("ANALYZE delivery_area")
    dataset.shape_count = dataset.areas.aggregate(count=Sum("shape_count"))["count"] or 0
    if dataset.shape_count:
        dataset.save(update_fields=["shape_count"])


def _copy_populations(dataset: Dataset, populations: Populations, progress: Callable[[float], None]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        copy_rows("delivery_population", POPULATION_COLUMNS, _population_rows(dataset, populations, progress))
        # Otherwise the planner would assume an empty data set.
        cursor.execute("ANALYZE delivery_population")


def _area_rows(dataset: Dataset, populations: Populations, details: Details) -> Iterator[tuple[Any, ...]]:
    for code in sorted(details.routes):
        facts, shapes, box, count = details.area(code, sorted(populations[code]))
        corners = "({2},{3}),({0},{1})".format(*box) if box else None
        yield dataset.pk, code, corners, shapes, count, facts


def _population_rows(
    dataset: Dataset, populations: Populations, progress: Callable[[float], None]
) -> Iterator[tuple[Any, ...]]:
    for number, code in enumerate(sorted(populations)):
        if number % PROGRESS_EVERY == 0:
            progress(number / len(populations))
        routes = populations[code]
        body, residential, business = render_body(code, routes, dataset.route_types)
        yield dataset.pk, code, residential, business, format_routes(routes), body


@long_transaction()
def activate_dataset(*, dataset_id: int, by: str, despite_concerns: bool = False) -> Dataset:
    """Activates a data set, which may be an earlier one; the API uses it from the commit on.

    The previous one is kept as a fallback; older ones lose their populations.
    """
    pointer = lock_live_dataset()
    dataset = _lock_loaded_dataset(dataset_id)
    if dataset.status == DatasetStatus.ACTIVE:
        return dataset
    if dataset.concerns and dataset.activated is None and not despite_concerns:
        raise Conflict(
            "There are concerns about this data set: " + " ".join(dataset.concerns), code="dataset_concerns"
        )
    Dataset.objects.filter(status=DatasetStatus.ACTIVE).update(status=DatasetStatus.RETIRED)
    dataset.status = DatasetStatus.ACTIVE
    dataset.activated, dataset.activated_by = timezone.now(), by
    dataset.save(update_fields=["status", "activated", "activated_by"])
    pointer.dataset = dataset
    pointer.save(update_fields=["dataset"])
    _discard_surplus()
    return dataset


@long_transaction()
def discard_dataset(*, dataset_id: int) -> Dataset:
    """Deletes the populations; the record of the data set stays."""
    lock_live_dataset()
    dataset = _lock_dataset(dataset_id)
    if dataset.status == DatasetStatus.ACTIVE:
        raise Conflict("The active data set cannot be discarded.", code="dataset_active")
    _discard_dataset(dataset)
    return dataset


@long_transaction()
def rebuild_dataset(*, dataset_id: int, route_types: str, by: str) -> Dataset:
    """A new data set of the same routes, with other types counted."""
    source = _lock_loaded_dataset(dataset_id)
    same = {field.name: getattr(source, field.name) for field in fields(Origin)}
    return store_populations(
        populations=stored_populations(source),
        route_types=route_types,
        origin=Origin(**{**same, "created_by": by}),
        unchanged=UnchangedRoutes(source.pk),
    )


def _lock_loaded_dataset(dataset_id: int) -> Dataset:
    dataset = _lock_dataset(dataset_id)
    if dataset.status == DatasetStatus.DISCARDED:
        raise Conflict("This data set was discarded; import its file again.", code="dataset_discarded")
    return dataset


def _lock_dataset(dataset_id: int) -> Dataset:
    dataset = Dataset.objects.select_for_update().filter(pk=dataset_id).first()
    if dataset is None:
        raise NotFound(f"There is no data set {dataset_id}.", code="dataset_unknown")
    return dataset


def _discard_surplus() -> None:
    served = Dataset.objects.filter(status=DatasetStatus.RETIRED).order_by("-activated")
    for dataset in served[STORED_SETS - 1 :]:
        _discard_dataset(dataset)


def _discard_dataset(dataset: Dataset) -> None:
    Population.objects.filter(dataset=dataset).delete()
    Area.objects.filter(dataset=dataset).delete()
    Dataset.objects.filter(pk=dataset.pk).update(status=DatasetStatus.DISCARDED)


def activation_warnings(
    *,
    populations: Populations,
    totals: Totals,
    route_types: str,
    rejects: int,
    rows: int,
    max_reject: float,
    live: Dataset | None,
) -> list[str]:
    """Warnings for people; an empty list allows the activation. A synthetic active set is not compared."""
    concerns = []
    if rejects and rejects * 100 > max_reject * rows:
        concerns.append(f"{rejects * 100 / rows:.2f}% of the lines were rejected, more than {max_reject:g}%.")
    if live is None or live.is_synthetic:
        return concerns
    routes, residential, business = sum_types(totals, route_types)
    before = sum_types(live.totals_by_type, route_types)
    pairs = (
        ("ZIP codes", live.postal_code_count, len(populations)),
        ("routes", before[0], routes),
        ("residential deliveries", before[1], residential),
        ("business deliveries", before[2], business),
    )
    concerns += [
        f"{name} go from {old} to {new}, by more than {TOLERANCE:.0%}."
        for name, old, new in pairs
        if abs(new - old) > TOLERANCE * old
    ]
    vanished = sorted(areas_of(live) - {code[:3] for code in populations})
    if vanished:
        vanished_names = ", ".join(vanished[:NAMED]) + (", …" if len(vanished) > NAMED else "")
        concerns.append(f"{len(vanished)} 3-digit areas disappear: {vanished_names}.")
    return concerns
