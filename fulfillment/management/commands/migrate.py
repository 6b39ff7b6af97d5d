from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections

from fulfillment.core.db.connections import connect_past_the_pooler
from fulfillment.core.db.first_migrations import BEFORE_FIRST_RELEASE, is_older_than_first_release


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connect_past_the_pooler()
        # Otherwise Django would report an inconsistent history with a traceback.
        if is_older_than_first_release(connections[options["database"]]):
            raise CommandError(BEFORE_FIRST_RELEASE)
        super().handle(*args, **options)
