import json
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser

from fulfillment.operations.demo import load_demo, reset_demo


class Command(BaseCommand):
    help = "Makes sure the demo data is there and prints its credentials (development mode only)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON object and nothing else.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            load_demo()
            demo = reset_demo()
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(demo, indent=1))
            return
        for role in ("operator", "user", "outsider"):
            person = demo[role]
            self.stdout.write(f"{role:10} {person['username']:10} {person['password']}")
        self.stdout.write(f"API        {demo['base_url']}")
