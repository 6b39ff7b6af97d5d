from typing import Any

from django.core.management.base import BaseCommand

from applications.services.authorizations import clear_expired_authorizations


class Command(BaseCommand):
    help = "Removes expired tokens, codes and grants in small batches. Run it every hour or so."

    def handle(self, *args: Any, **options: Any) -> None:
        removed = clear_expired_authorizations()
        self.stdout.write(f"{removed:,} expired tokens and codes removed.")
