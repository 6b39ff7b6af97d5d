import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from fulfillment.core.page_messages import ServiceCommand
from fulfillment.operations.privacy import export_user_data, find_user


class Command(ServiceCommand):
    help = "Write all stored data about a user into a ZIP file of JSON, without secrets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "user",
            help="full name (olivia@print.example), e-mail address or ID",
        )
        parser.add_argument("file", type=Path, help="a new file, such as ada.zip")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            content = export_user_data(user=find_user(options["user"]))
            descriptor = os.open(options["file"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"{options['file']} has {len(content)} bytes.")
