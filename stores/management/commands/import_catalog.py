"""Imports a catalog file, or only checks it, with progress and the list of its faults."""

import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from django.core.management.base import CommandError, CommandParser, OutputWrapper
from django.db import DatabaseError

from fulfillment.core.errors import in_one_line
from fulfillment.core.page_messages import ServiceCommand
from stores.catalog.catalog_file.reader import CatalogSource, Readable
from stores.catalog.services.imports import CatalogInvalid, ImportSummary, import_catalog

WIDTH = 40
FAULTS_SHOWN = 100


class Progress:
    def __init__(self, out: OutputWrapper, size: int | None) -> None:
        self.out = out
        self.size = size or None
        self.is_terminal = out.isatty()
        self.shown = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_terminal and self.shown:
            self.out.write("")

    def advance(self, position: int) -> None:
        if self.size is None:
            self._advance_unsized(position)
            return
        percent = min(100, position * 100 // self.size)
        if self.is_terminal and percent != self.shown:
            filled = percent * WIDTH // 100
            self.out.write(f"\r[{'#' * filled:<{WIDTH}}] {percent:3d}%", ending="")
            self.out.flush()
            self.shown = percent
        elif not self.is_terminal and percent // 10 > self.shown // 10:
            self.out.write(f"{percent // 10 * 10}% read")
            self.shown = percent

    def _advance_unsized(self, position: int) -> None:
        megabytes = position // 1_000_000
        if self.is_terminal and megabytes != self.shown:
            self.out.write(f"\r{megabytes:,} MB", ending="")
            self.out.flush()
            self.shown = megabytes


class Command(ServiceCommand):
    help = "Imports a catalog file (docs/catalog.md): validated completely, all or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="A .json or .json.gz file, or - for standard input.")
        parser.add_argument(
            "--dry-run", action="store_true", help="Check and count everything, write nothing."
        )

    def handle(self, *args: Any, file: str, dry_run: bool, **options: Any) -> None:
        try:
            with sys.stdin.buffer if file == "-" else Path(file).open("rb") as raw:
                size = Path(file).stat().st_size if file != "-" else None
                summary = self._import(raw, size, dry_run=dry_run)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror or error}.") from error
        except CatalogInvalid as error:
            raise CommandError(self._fault_list(error)) from error
        except DatabaseError as error:
            raise CommandError(
                f"The database failed and nothing was imported: {in_one_line(error)}"
            ) from error
        except KeyboardInterrupt as error:
            raise CommandError("Stopped; nothing was imported.") from error
        self.stdout.write(_sentence(summary, dry_run=dry_run))

    def _import(self, raw: Readable, size: int | None, *, dry_run: bool) -> ImportSummary:
        with Progress(self.stderr, size) as progress:
            return import_catalog(source=CatalogSource(raw, on_progress=progress.advance), dry_run=dry_run)

    def _fault_list(self, error: CatalogInvalid) -> str:
        lines = [f"{fault.pointer or '/'}: {fault.message}" for fault in error.faults[:FAULTS_SHOWN]]
        hidden = error.fault_count - len(lines)
        if hidden > 0:
            lines.append(f"... and {hidden:,} more.")
        return "\n".join([*lines, f"{error.fault_count:,} errors; nothing was imported."])


def _sentence(summary: ImportSummary, *, dry_run: bool) -> str:
    verb = "Would import" if dry_run else "Imported"
    return (
        f"{verb} products: {summary.products_new:,} new, {summary.products_changed:,} changed, "
        f"{summary.products_same:,} unchanged; stores: {summary.stores_new:,} new, "
        f"{summary.stores_changed:,} changed, {summary.stores_same:,} unchanged."
    )
