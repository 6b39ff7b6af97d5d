import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from fulfillment.core.page_messages import ServiceCommand
from stores.catalog.services.imports import export_catalog


class Command(ServiceCommand):
    help = "Writes stores and their products to a catalog file (docs/catalog.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", nargs="?", default="-", help="A .json or .json.gz file; - writes to standard output."
        )
        parser.add_argument(
            "--store", action="append", default=[], metavar="ID", help="Only this store; repeatable."
        )

    def handle(self, *args: Any, file: str, store: list[str], **options: Any) -> None:
        try:
            with _open_target(file) as target:
                for piece in export_catalog(store_ids=store):
                    target.write(piece)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror or error}.") from error


@contextmanager
def _open_target(file: str) -> Iterator[Any]:
    """Writes to a temporary file, which gets the requested name when it is complete."""
    if file == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(file)
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        with unfinished.open("wb") as raw:
            if target.suffix == ".gz":
                with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed:
                    yield packed
            else:
                yield raw
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
