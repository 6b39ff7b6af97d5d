"""The report of an import, in lines for a terminal."""

from collections.abc import Iterator

from delivery.datasets.models import DatasetStatus
from delivery.datasets.populations import ROUTE_TYPE_NAMES, sum_of
from delivery.datasets.services.importer import ImportOptions
from delivery.datasets.services.imports import Outcome
from delivery.datasets.sources.problems import REMEDIES

SHOWN = 10


def describe_outcome(outcome: Outcome, options: ImportOptions) -> Iterator[str]:
    reading = outcome.reading
    origin = reading.origin
    yield f"{origin.file_name}: {origin.source_format}, vintage {origin.vintage:%Y-%m}, SHA-256 {origin.sha256}"
    totals = reading.totals
    routes, residential, business = sum_of(totals, options.route_types)
    yield (
        f"{reading.rows} lines read: {len(reading.populations)} ZIP codes, {routes} routes counted "
        f"({options.route_types}), {residential} residential, {business} business, {residential + business} in all"
    )
    for letter, (count, homes, firms) in sorted(totals.items()):
        counted = "" if letter in options.route_types else ", not counted"
        yield f"  {letter} {ROUTE_TYPE_NAMES[letter]}: {count} routes, {homes + firms} deliveries{counted}"
    yield from reading.notes
    yield from _problems(outcome)
    yield from (f"Concern: {concern}" for concern in reading.concerns)
    yield _ending(outcome)


def _problems(outcome: Outcome) -> Iterator[str]:
    log = outcome.reading.log
    if not log.counts:
        return
    yield f"{log.rejects} lines rejected, {log.warnings} warnings"
    for code, count in log.counts.most_common():
        yield f"  {code} {count}: {REMEDIES[code]}"
    for line, column, value, code in log.listed[:SHOWN]:
        yield f"  line {line}: {column or 'line'} {value!r} {code}"


def _ending(outcome: Outcome) -> str:
    dataset = outcome.dataset
    if dataset is None:
        return "Dry run: nothing was written."
    if dataset.status == DatasetStatus.ACTIVE:
        return f"Data set {dataset.pk} is active."
    force = " --force" if dataset.concerns else ""
    return f"Data set {dataset.pk} waits: activate it with `manage.py eddm activate {dataset.pk}{force}`."
