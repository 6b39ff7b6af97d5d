from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from fulfillment.core.db.connections import connect_past_the_pooler
from fulfillment.core.page_messages import ServiceCommand
from fulfillment.operations.backups.manifest import FILE_LIST
from fulfillment.operations.backups.record_graph import parse_root
from fulfillment.operations.backups.records import restore_records


class Command(ServiceCommand):
    help = (
        "Bring a deleted record back from a restored copy of the database, with its id and all records and files that "
        "belonged to it, beside the running service: restore_record app.Model field=value --copy 127.0.0.1:5499."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("record", nargs="+", metavar="MODEL FIELD=VALUE")
        parser.add_argument(
            "--copy", required=True, metavar="HOST:PORT", help="where restore-copy started it"
        )
        parser.add_argument(
            "--files", type=Path, metavar="FOLDER", help="a backup that has files removed since"
        )
        parser.add_argument(
            "--without-files", action="store_true", help="give up files that are found nowhere"
        )
        parser.add_argument(
            "--check", action="store_true", help="show what would be restored, and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        connect_past_the_pooler()
        words, folder = options["record"], options["files"]
        if len(words) % 2:
            raise CommandError("Name records in pairs of MODEL and FIELD=VALUE.")
        if folder is not None and not (folder / FILE_LIST).is_file():
            raise CommandError(f"{folder} has no {FILE_LIST}; name a folder that `backup` wrote.")
        rows = restore_records(
            roots=[parse_root(*pair) for pair in zip(words[::2], words[1::2], strict=True)],
            copy=options["copy"],
            files=folder,
            without_files=options["without_files"],
            only_check=options["check"],
            on_progress=self.stdout.write,
        )
        verb = "would come" if options["check"] else "came"
        self.stdout.write(f"{sum(rows.values()):,} rows of {len(rows)} tables {verb} back.")
