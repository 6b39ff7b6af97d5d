from typing import Any

from django.conf import settings
from django.core.management import CommandError
from django.core.management.commands import sendtestemail


class Command(sendtestemail.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        # Those of smtplib are OSErrors as well.
        except OSError as error:
            server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
            raise CommandError(
                f"The mail server of EMAIL_HOST and EMAIL_PORT, {server}, did not take the mail: {error}"
            ) from error
        self.stdout.write("The mail server took the mail.")
