from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections

from fulfillment.operations.first_release import MADE_BEFORE, made_before_first_release


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        # Django would report an inconsistent history, with a traceback.
        if made_before_first_release(connections[options["database"]]):
            raise CommandError(MADE_BEFORE)
        super().handle(*args, **options)
