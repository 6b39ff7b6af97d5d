from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fulfillment.core.errors import DomainError
from stores.catalog.services.refresh import refresh_renderings


class Command(BaseCommand):
    help = "Writes the stored bodies of all stores and products again; needed after PUBLIC_URL has changed."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            changed = refresh_renderings()
        except DomainError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{changed:,} products changed.")
