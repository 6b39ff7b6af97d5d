import sys
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from fulfillment.errors import DomainError
from stores.services.order_status_import import (
    LineResult,
    Outcome,
    import_order_statuses,
    read_reported,
)


class Command(BaseCommand):
    help = "Moves orders to the statuses of a CSV file: order number, status, carrier, tracking, note."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", help="A CSV file in UTF-8 with a line of column names, or - for standard input."
        )
        parser.add_argument(
            "--all-or-nothing", action="store_true", help="One refused line takes back every line."
        )

    def handle(self, *args: Any, file: str, all_or_nothing: bool, **options: Any) -> None:
        try:
            text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
            reported = read_reported(text.splitlines(keepends=True))
            results = import_order_statuses(reported=reported, all_or_nothing=all_or_nothing)
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be read: {error}.") from error
        except DomainError as error:
            raise CommandError(error.message) from error
        self._report(results, all_or_nothing=all_or_nothing)

    def _report(self, results: list[LineResult], *, all_or_nothing: bool) -> None:
        for result in results:
            self.stdout.write(f"line {result.line}: {result.outcome}: {result.text}")
        counts = Counter(result.outcome for result in results)
        summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome)
        refused = counts[Outcome.REFUSED]
        if refused and all_or_nothing:
            raise CommandError(f"{refused} of {len(results)} lines refused; no order was moved.")
        self.stdout.write(f"{len(results)} lines: {summary}.")
        if refused:
            raise CommandError(f"{refused} of {len(results)} lines refused; the others are done.")
