from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from fulfillment.core.db.connections import connect_past_the_pooler
from fulfillment.core.page_messages import ServiceCommand
from fulfillment.operations.backups.making import make_backup
from fulfillment.operations.backups.restoring import refuse_interrupted_restore


class Command(ServiceCommand):
    help = (
        "Write the database and the stored files into a new folder, beside the running service. The folder "
        "appears when it is complete. It does not contain the secrets that decrypt its keys."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        connect_past_the_pooler()
        refuse_interrupted_restore()
        folder = options["folder"].absolute()
        try:
            manifest = make_backup(folder=folder, on_progress=self.stdout.write)
        except OSError as error:
            # Errors in the middle of a file name no file.
            raise CommandError(f"{error.filename or folder} cannot be written: {error.strerror}.") from error
        rows, megabytes = sum(manifest.tables.values()), manifest.file_bytes / 1_000_000
        self.stdout.write(
            f"{folder} contains {rows} rows of {len(manifest.tables)} tables and {manifest.file_count} "
            f"files ({megabytes:.1f} MB)."
        )
        if manifest.absent:
            names = ", ".join(manifest.absent[:3])
            self.stderr.write(f"{len(manifest.absent)} files that orders or stores name are missing: {names}")
