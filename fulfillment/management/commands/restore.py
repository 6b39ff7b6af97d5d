from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from fulfillment.core.db.connections import connect_past_the_pooler
from fulfillment.core.page_messages import ServiceCommand
from fulfillment.local import supervision
from fulfillment.operations.backups.restoring import restore_backup
from fulfillment.operations.secret_rotation import settings_that_do_not_fit


class Command(ServiceCommand):
    help = (
        "Restore a backup after comparing it with its manifest. Stop the service first, and run `prepare` "
        "afterwards."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument(
            "--force",
            action="store_true",
            help="replace a database that is not empty; this deletes everything in it",
        )

    def run_from_argv(self, argv: list[str]) -> None:
        supervision.raise_on_stop_signal()
        super().run_from_argv(argv)

    def handle(self, *args: Any, **options: Any) -> None:
        connect_past_the_pooler()
        folder = options["folder"].absolute()
        try:
            manifest = restore_backup(folder=folder, force=options["force"], on_progress=self.stdout.write)
        except supervision.Stopped as error:
            raise CommandError("The restore was stopped. Run it again.") from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read or written: {error.strerror}.") from error
        self.stdout.write(
            f"Restored {sum(manifest.tables.values())} rows of {len(manifest.tables)} tables and "
            f"{manifest.file_count} files, as of {manifest.created}. Now run manage.py prepare."
        )
        if names := settings_that_do_not_fit():
            self.stderr.write(
                f"The restored keys do not fit {' and '.join(names)} of this installation, so no key works. Set the "
                "values that the backup was made with."
            )
