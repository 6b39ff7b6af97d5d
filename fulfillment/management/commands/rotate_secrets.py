from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import CommandError

from fulfillment.core.page_messages import ServiceCommand
from fulfillment.operations.secret_rotation import Rotated, find_old_secrets, rotate_secrets

KEEP_OLDER = (
    "No stored secret needs an older value. Links, responses and proofs made before the change do: keep older "
    "encryption keys 7 days longer, older peppers %s days, an older SECRET_KEY 31 days, then remove them and restart."
)


class Command(ServiceCommand):
    help = (
        "Encrypt and hash stored keys under the first of FULFILLMENT_PEPPERS and FULFILLMENT_ENCRYPTION_KEYS, beside "
        "the running service; docs/operating/secrets.md has the steps. Repeat it after an interruption."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check",
            action="store_true",
            help="change nothing; fail while anything needs an older value",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.shown = ""
        report = find_old_secrets() if options["check"] else rotate_secrets(on_progress=self._show_progress)
        for row in report:
            verb = "under older values" if options["check"] else "rotated"
            self.stdout.write(f"{row.name}: {row.total}, {row.rewritten} {verb}")
        self._require_readable(report)
        self._report_needs(report, is_check=options["check"])

    def _show_progress(self, rotated: Rotated) -> None:
        line = f"{rotated.name}: {min(100, rotated.checked * 100 // max(1, rotated.total))}%"
        if self.stdout.isatty() and line != self.shown:
            self.stdout.write(f"\r{line}", ending="\n" if line.endswith("100%") else "")
            self.shown = line

    def _require_readable(self, report: list[Rotated]) -> None:
        for row in report:
            if row.unreadable:
                keys = ", ".join(str(key) for key in row.unreadable[:5])
                raise CommandError(
                    f"{len(row.unreadable)} {row.name} cannot be read with any of FULFILLMENT_ENCRYPTION_KEYS, such as "
                    f"{keys}. Add the value they were written with, or make new ones."
                )

    def _report_needs(self, report: list[Rotated], *, is_check: bool) -> None:
        if is_check and any(row.rewritten for row in report):
            raise CommandError("Older values are still needed; run manage.py rotate_secrets.")
        if len(settings.PEPPERS) > 1 or len(settings.ENCRYPTION_KEYS) > 1 or settings.SECRET_KEY_FALLBACKS:
            self.stdout.write(KEEP_OLDER % settings.PROOF_RETENTION_DAYS)
