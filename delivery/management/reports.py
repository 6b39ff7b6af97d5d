"""The report of an import, in lines for a terminal."""

import getpass
import time
from collections.abc import Iterator

from django.core.management.base import OutputWrapper

from delivery.datasets.models import DatasetStatus
from delivery.datasets.populations import ROUTE_TYPE_NAMES, sum_types
from delivery.datasets.services.importer import ImportOptions
from delivery.datasets.services.imports import Outcome
from delivery.datasets.sources.problems import REMEDIES

WIDTH = 30
EVERY_SECONDS = 0.25
SHOWN = 10


class TerminalProgress:
    """One rewritten line on a terminal, else a line every 10%."""

    def __init__(self, stream: OutputWrapper) -> None:
        self.stream = stream
        self.rewrites = bool(stream.isatty())
        self.started = time.monotonic()
        self.next_at = 0.0
        self.next_tenth = 1

    def show(self, phase: str, share: float) -> None:
        if self.rewrites:
            self._rewrite(phase, share)
        elif share * 10 >= self.next_tenth:
            self.next_tenth = int(share * 10) + 1
            self.stream.write(f"{int(share * 10) * 10:3d}% {phase}")

    def close(self) -> None:
        if self.rewrites:
            self.stream.write("\r\033[K", ending="")

    def _rewrite(self, phase: str, share: float) -> None:
        now = time.monotonic()
        if now < self.next_at and share < 1:
            return
        self.next_at = now + EVERY_SECONDS
        filled = int(share * WIDTH)
        left = (now - self.started) * (1 - share) / share if share > 0 else 0
        bar = "#" * filled + "." * (WIDTH - filled)
        self.stream.write(f"\r[{bar}] {share:4.0%} {phase}, {left:.0f} s left \033[K", ending="")
        self.stream.flush()


def current_user() -> str:
    """The user name recorded for changes by commands."""
    try:
        return f"{getpass.getuser()} (command)"
    except (KeyError, OSError):  # a user without a name, as in some containers
        return "command"


def describe_outcome(outcome: Outcome, options: ImportOptions) -> Iterator[str]:
    reading = outcome.reading
    origin = reading.origin
    yield f"{origin.file_name}: {origin.source_format}, vintage {origin.vintage:%Y-%m}, SHA-256 {origin.sha256}"
    totals = reading.totals
    routes, residential, business = sum_types(totals, options.route_types)
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
