from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import CommandError

from fulfillment.core.audit.retention import RetentionRule
from fulfillment.core.page_messages import ServiceCommand
from fulfillment.operations.retention import BATCH, RetentionReport, all_retention_rules, prune

PROOF_MAXIMUM_RETENTION_DAYS = 3650


class Command(ServiceCommand):
    help = (
        "Removes expired data: tokens, codes, sessions and stored responses, proofs not requested for a long "
        "time, and files without a record. It works in small batches beside the running service; run it every day."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would be removed, and remove nothing"
        )
        parser.add_argument(
            "--only", action="append", metavar="THING", help="only this kind of data; may be repeated"
        )
        parser.add_argument(
            "--batch", type=int, default=BATCH, help=f"rows in one transaction (default: {BATCH})"
        )
        parser.add_argument(
            "--days",
            type=int,
            default=settings.PROOF_RETENTION_DAYS,
            help="how long an unused proof is kept (default: PROOF_RETENTION_DAYS)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.PROOF_MINIMUM_RETENTION_DAYS <= options["days"] <= PROOF_MAXIMUM_RETENTION_DAYS:
            raise CommandError(
                f"Addresses of proofs are good for 31 days: --days is a number from "
                f"{settings.PROOF_MINIMUM_RETENTION_DAYS} to {PROOF_MAXIMUM_RETENTION_DAYS}."
            )
        if not 1 <= options["batch"] <= 10_000:
            raise CommandError("--batch is a number from 1 to 10000.")
        rules = _choose_rules(all_retention_rules(proof_days=options["days"]), options["only"])
        if options["dry_run"]:
            for rule in rules:
                self.stdout.write(f"{rule.count():>9}  {rule.name} would be removed")
            return
        report = prune(rules=rules, batch=options["batch"], on_progress=self._show)
        if failures := [f"{pruned.name}: {pruned.failure}" for pruned in report if pruned.failure]:
            raise CommandError(" ".join(failures))

    def _show(self, pruned: RetentionReport) -> None:
        self.stdout.write(f"{pruned.count:>9}  {pruned.name} removed")
        self.stdout.flush()


def _choose_rules(rules: list[RetentionRule], names: list[str] | None) -> list[RetentionRule]:
    rule_by_name = {rule.name: rule for rule in rules}
    if unknown := [name for name in names or () if name not in rule_by_name]:
        raise CommandError(f"{', '.join(unknown)} is unknown; write {', '.join(rule_by_name)}.")
    return [rule_by_name[name] for name in names] if names else rules
