from typing import Any

from fulfillment.core.page_messages import ServiceCommand
from stores.catalog.services.refresh import refresh_renderings


class Command(ServiceCommand):
    help = "Writes the stored bodies of all stores and products again; needed after PUBLIC_URL has changed."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{refresh_renderings():,} products changed.")
