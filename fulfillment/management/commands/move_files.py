from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError

from fulfillment.core.db.connections import connect_past_the_pooler
from fulfillment.core.page_messages import ServiceCommand
from fulfillment.operations.file_moves import move_files

SHOWN = 3


class Command(ServiceCommand):
    help = (
        "Copy all stored files to the S3 bucket, or from it back to the folder, beside the running service, and "
        "compare each copy; docs/operating/backup.md has the steps. Repeat it after an interruption."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("target", choices=["s3", "folder"], help="where the files go")
        parser.add_argument(
            "--remove",
            action="store_true",
            help="delete each original file after its copy was compared",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        connect_past_the_pooler()
        moved = move_files(target=options["target"], remove=options["remove"], on_progress=self.stdout.write)
        self.stdout.write(
            f"{moved.copied} files copied, {moved.there} there already, all compared; {moved.removed} removed."
        )
        if moved.absent:
            names = ", ".join(moved.absent[:SHOWN])
            raise CommandError(
                f"{len(moved.absent)} files that orders or stores name are not in {options['target']}: {names}"
            )
