from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from applications.services.authorizations import clear_expired_authorizations
from fulfillment.errors import DomainError
from stores.services.pruning import prune_proofs


class Command(BaseCommand):
    help = (
        "Remove expired tokens and codes, proofs nobody asked for in a long time, and files that belong to "
        "nothing. Small batches; run it every day."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--days",
            type=int,
            default=settings.PROOF_DAYS_KEPT,
            help="how long an unused proof is kept (default: PROOF_DAYS_KEPT)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["days"] < settings.PROOF_DAYS_SHORTEST:
            raise CommandError(
                f"Addresses of proofs are good for 31 days; keep proofs at least "
                f"{settings.PROOF_DAYS_SHORTEST} days."
            )
        tokens = clear_expired_authorizations()
        try:
            summary = prune_proofs(days=options["days"])
        except DomainError as error:
            raise CommandError(error.message) from error
        strays = f"{summary.stray_folders} stray folders and {summary.stray_assets} stray pictures"
        self.stdout.write(f"Removed {tokens} expired tokens and codes, {summary.proofs} proofs, {strays}.")
