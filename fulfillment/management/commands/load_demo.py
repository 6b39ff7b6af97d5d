from typing import Any

from django.core.management.base import BaseCommand

from fulfillment.demo import load_demo
from stores.models import Store


class Command(BaseCommand):
    help = "Loads the demo data that is missing (development mode only); what is there stays untouched."

    def handle(self, *args: Any, **options: Any) -> None:
        load_demo()
        if options["verbosity"]:
            self.stdout.write(f"{Store.objects.count()} stores are ready.")
