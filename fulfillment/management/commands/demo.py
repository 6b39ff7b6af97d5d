import json
from typing import Any

from django.core.management.base import CommandParser

from fulfillment.core.page_messages import ServiceCommand
from fulfillment.operations.demo import load_demo, reset_demo


class Command(ServiceCommand):
    help = "Makes sure the demo data is there and prints its credentials (development mode only)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON object and nothing else.")

    def handle(self, *args: Any, **options: Any) -> None:
        load_demo()
        demo = reset_demo()
        if options["json"]:
            self.stdout.write(json.dumps(demo, indent=1))
            return
        for role in ("operator", "user", "outsider"):
            person = demo[role]
            self.stdout.write(f"{role:10} {person['username']:10} {person['password']}")
        self.stdout.write(f"API        {demo['base_url']}")
