from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from fulfillment.core.db.connections import connect_past_the_pooler
from fulfillment.core.errors import DomainError
from fulfillment.operations.backups.drills import run_drill


class Command(BaseCommand):
    help = (
        "Restore the newest backup of a folder into a scratch database, check it and remove the database. /metrics "
        "shows when a drill last passed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, nargs="?", default=Path("/var/backups/fulfillment"))

    def handle(self, *args: Any, **options: Any) -> None:
        connect_past_the_pooler()
        try:
            manifest = run_drill(folder=options["folder"], on_progress=self.stdout.write)
        except DomainError as error:
            raise CommandError(f"The drill failed. {error.message}") from error
        except OSError as error:
            raise CommandError(
                f"The drill failed. {error.filename} cannot be read: {error.strerror}."
            ) from error
        self.stdout.write(
            f"The drill passed: {sum(manifest.tables.values()):,} rows of {len(manifest.tables)} tables and "
            f"{manifest.file_count:,} files can be restored."
        )
