"""Imports files of ZIP codes and routes as a new data set, with progress on a terminal."""

import getpass
import os
import shutil
import sys
import tempfile
import time
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser, OutputWrapper

from delivery.datasets.models import DatasetStatus
from delivery.datasets.populations import ROUTE_TYPE_NAMES, sum_types
from delivery.datasets.problems import PROBLEM_HEADER, REMEDIES
from delivery.datasets.services.importer import ImportOptions, read_types, read_vintage
from delivery.datasets.services.imports import ImportOutcome, import_file, import_upload, try_file
from delivery.datasets.sources.cells import POSTAL_CODE, read_choices
from delivery.datasets.sources.tables import FORMATS
from fulfillment.core.errors import DomainError
from fulfillment.core.page_messages import ServiceCommand

WIDTH = 30
EVERY_SECONDS = 0.25
SHOWN = 10
NOT_ACTIVATED = 1


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
        seconds_left = (now - self.started) * (1 - share) / share if share > 0 else 0
        bar = "#" * filled + "." * (WIDTH - filled)
        self.stream.write(f"\r[{bar}] {share:4.0%} {phase}, {seconds_left:.0f} s left \033[K", ending="")
        self.stream.flush()


def current_user() -> str:
    """The user name recorded for changes by commands."""
    try:
        return f"{getpass.getuser()} (command)"
    except (KeyError, OSError):  # a user without a name, as in some containers
        return "command"


def describe_outcome(outcome: ImportOutcome, options: ImportOptions) -> Iterator[str]:
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
    yield from _describe_problems(outcome)
    yield from (f"Concern: {concern}" for concern in reading.concerns)
    yield _describe_ending(outcome)


def _describe_problems(outcome: ImportOutcome) -> Iterator[str]:
    log = outcome.reading.log
    if not log.counts:
        return
    yield f"{log.rejects} lines rejected, {log.warnings} warnings"
    for code, count in log.counts.most_common():
        yield f"  {code} {count}: {REMEDIES[code]}"
    for line, column, value, code in log.listed[:SHOWN]:
        yield f"  line {line}: {column or 'line'} {value!r} {code}"


def _describe_ending(outcome: ImportOutcome) -> str:
    dataset = outcome.dataset
    if dataset is None:
        return "Dry run: nothing was written."
    if dataset.status == DatasetStatus.ACTIVE:
        return f"Data set {dataset.pk} is active."
    force = " --force" if dataset.concerns else ""
    return f"Data set {dataset.pk} waits: activate it with `manage.py eddm activate {dataset.pk}{force}`."


class Command(ServiceCommand):
    help = (
        "Loads delivery populations (EDDM) from a file, checks them and activates them. Takes CSV or TSV, the saved "
        "JSON of the USPS map service and the fixed-width Delivery Statistics file; plain, .gz or .zip."
    )

    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", help="The file, or - for standard input.")
        parser.add_argument("--format", choices=FORMATS, default="auto")
        parser.add_argument(
            "--vintage", default="", type=_read_vintage, help="The month of the counts, YYYY-MM."
        )
        parser.add_argument("--types", default="", type=_read_types, help="Route types to count, e.g. CRHB.")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            help="field=column, comma separated; fields: zip, route, residential, business, total.",
        )
        parser.add_argument(
            "--postal-code", default="", type=_postal_code, help="For a table without a ZIP column."
        )
        parser.add_argument("--merge", action="store_true", help="Replace only the ZIP codes in this file.")
        parser.add_argument("--dry-run", action="store_true", help="Read and check, write nothing.")
        parser.add_argument(
            "--no-activate", action="store_true", help="Load the file, but do not activate it."
        )
        parser.add_argument(
            "--max-reject", type=_percent, default=0.5, help="In percent of lines. Default: 0.5."
        )
        parser.add_argument("--force", action="store_true", help="Activate despite warnings.")
        parser.add_argument(
            "--problems", type=file_to_write, help="Write all problems of single lines to this CSV."
        )
        parser.add_argument("--run", type=int, help="Import the upload of this number (used by the admin).")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["run"]:
            import_upload(run_id=options["run"])
        elif not options["file"]:
            raise CommandError("Name a file, or - for standard input.", returncode=2)
        else:
            self._import(options)

    def _import(self, options: dict[str, Any]) -> None:
        settings = ImportOptions(
            format=options["format"],
            vintage=options["vintage"],
            types=options["types"],
            columns=read_choices(options["map"]),
            postal_code=options["postal_code"],
            merge=options["merge"],
            activate=not options["no_activate"],
            max_reject=options["max_reject"],
            force=options["force"],
        )
        progress = TerminalProgress(self.stderr)
        with _local_file(options["file"]) as (path, name):
            if options["dry_run"]:
                outcome = _try_file(path, name, settings, options["problems"], progress)
            else:
                outcome = import_file(
                    path=path, name=name, options=settings, by=current_user(), on_progress=progress.show
                )
        progress.close()
        if outcome.run and outcome.run.problem_file and options["problems"]:
            with outcome.run.problem_file.open() as source, options["problems"].open("wb") as target:
                shutil.copyfileobj(source, target)
        for line in describe_outcome(outcome, settings):
            self.stdout.write(line)
        if outcome.reading.concerns and settings.activate and not settings.force:
            raise CommandError("Not activated.", returncode=NOT_ACTIVATED)


def _try_file(
    path: Path, name: str, settings: ImportOptions, problems: Path | None, progress: TerminalProgress
) -> Any:
    if problems is None:
        return try_file(path=path, name=name, options=settings, on_progress=progress.show)
    with problems.open("w", encoding="utf-8", newline="") as target:
        target.write(PROBLEM_HEADER)
        return try_file(path=path, name=name, options=settings, problems=target, on_progress=progress.show)


@contextmanager
def _local_file(name: str) -> Iterator[tuple[Path, str]]:
    """The local file; standard input is copied to disk, because it is read more than once."""
    if name != "-":
        yield Path(name), Path(name).name
        return
    with tempfile.NamedTemporaryFile() as local:
        shutil.copyfileobj(sys.stdin.buffer, local)
        local.flush()
        yield Path(local.name), "standard input"


def _read_vintage(text: str) -> str:
    return _check_option(read_vintage, text)


def _read_types(text: str) -> str:
    return _check_option(read_types, text)


def _postal_code(text: str) -> str:
    if text and not POSTAL_CODE.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} is not a postal code; write five digits.")
    return text


def file_to_write(text: str) -> Path:
    path = Path(text)
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ArgumentTypeError(f"{text} cannot be written; name a file in a folder that exists.")
    return path


def _percent(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (percent := float(text)) <= 100:
            return percent
    raise ArgumentTypeError(f"{text!r} is no percentage; write a number from 0 to 100.")


def _check_option(reader: Any, text: str) -> str:
    """Checks an option; empty defaults pass."""
    try:
        if text:
            reader(text)
    except DomainError as error:
        raise ArgumentTypeError(error.message) from error
    return text
