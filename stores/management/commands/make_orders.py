import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from fulfillment.core.errors import DomainError
from stores.catalog.models import Store
from stores.management.sample_orders import create_sample_orders


class Command(BaseCommand):
    help = "Creates sample orders for development and benchmarks (development mode only)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--count", type=int, required=True)
        parser.add_argument(
            "--store", action="append", help="A StoreID; may be repeated. Default: every store."
        )
        parser.add_argument("--no-history", action="store_true", help="Orders and items only.")

    def handle(
        self, *args: Any, count: int, store: list[str] | None, no_history: bool, **options: Any
    ) -> None:
        if not settings.DEVELOPMENT:
            raise CommandError("Sample orders can be created in development mode only.")
        if count < 1:
            raise CommandError("--count must be at least 1.")
        stores = list(Store.objects.filter(external_id__in=store) if store else Store.objects.all())
        if not stores or len(stores) < len(set(store or ())):
            raise CommandError("There is no such store.")
        started = time.monotonic()
        try:
            create_sample_orders(count=count, stores=stores, with_history=not no_history, report=self._show)
        except DomainError as error:
            raise CommandError(error.message) from error
        seconds = time.monotonic() - started
        self.stdout.write(f"Created {count:,} orders in {len(stores)} stores in {seconds:.0f} s.")

    def _show(self, done: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{done:,}", ending="")
