from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command

from fulfillment.core.audit.guards import grant_new_tables, grant_use
from fulfillment.core.db.connections import connect_past_the_pooler
from fulfillment.core.db.locks import exclusive_job
from fulfillment.core.page_messages import ServiceCommand
from fulfillment.core.plugins import offered_values
from fulfillment.operations.backups.restoring import refuse_interrupted_restore, skip_used_numbers


class Command(ServiceCommand):
    help = "Brings the database up to this release: migrations, built-in records, renderings. Run at each deploy."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--after-recovery",
            action="store_true",
            help="after a point-in-time recovery: skip numbers that were given since (`restore` does so as well)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        connect_past_the_pooler()
        refuse_interrupted_restore()
        with exclusive_job("Preparing"):
            self._prepare(options)
        self.stdout.write("The database is ready for this release.")

    def _prepare(self, options: dict[str, Any]) -> None:
        if settings.DATABASE_ROLE:
            grant_new_tables(settings.DATABASE_ROLE)
        call_command("migrate", interactive=False, verbosity=options["verbosity"])
        for step in (
            *offered_values("operations", "before_start"),
            *offered_values("operations", "after_migrations"),
        ):
            step()
        if options["after_recovery"]:
            for line in skip_used_numbers():
                self.stdout.write(line)
        if settings.DATABASE_ROLE:
            grant_use(settings.DATABASE_ROLE)
