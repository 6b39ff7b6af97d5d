from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from stores.orders.services.simulation import advance_demo_orders


class Command(BaseCommand):
    help = (
        "Moves the demo store's orders to their next status after DEMO_ADVANCE_SECONDS; call it from a timer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--seconds", type=int, help="Use this instead of the setting.")

    def handle(self, *args: Any, seconds: int | None, **options: Any) -> None:
        seconds = settings.DEMO_ADVANCE_SECONDS if seconds is None else seconds
        if not seconds:
            self.stdout.write("DEMO_ADVANCE_SECONDS is 0: demo orders do not move automatically.")
            return
        moved = advance_demo_orders(older_than=timedelta(seconds=seconds))
        self.stdout.write(f"Moved {moved} orders of the demo store.")
