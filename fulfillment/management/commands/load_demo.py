from typing import Any

from fulfillment.core.page_messages import ServiceCommand
from fulfillment.operations.demo import load_demo


class Command(ServiceCommand):
    help = "Loads the demo data that is missing (development mode only); what is there stays untouched."

    def handle(self, *args: Any, **options: Any) -> None:
        load_demo()
        if options["verbosity"]:
            self.stdout.write("The demo data is ready.")
