from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError

from fulfillment.operations.demo import load_demo


class Command(BaseCommand):
    help = "Loads the demo data that is missing (development mode only); what is there stays untouched."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            load_demo()
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        if options["verbosity"]:
            self.stdout.write("The demo data is ready.")
