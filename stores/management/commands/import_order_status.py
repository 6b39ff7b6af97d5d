import io
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import Error

from fulfillment.core.errors import in_one_line
from fulfillment.core.page_messages import ServiceCommand
from stores.orders.services.status_import import LineOutcome, LineResult, import_order_statuses, read_reported


class Command(ServiceCommand):
    help = "Moves orders to the statuses of a CSV file: order number, status, carrier, tracking, note."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", help="A CSV file in UTF-8 with a line of column names, or - for standard input."
        )
        parser.add_argument(
            "--all-or-nothing", action="store_true", help="One refused line rolls back all lines."
        )

    def handle(self, *args: Any, file: str, all_or_nothing: bool, **options: Any) -> None:
        try:
            content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
            # newline="": the CSV reader must see line ends inside of quoted cells.
            reported = read_reported(io.StringIO(content.decode("utf-8-sig"), newline=""))
            counts = self._report(import_order_statuses(reported=reported, all_or_nothing=all_or_nothing))
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be read: {error}.") from error
        except Error as error:
            effect = "no order was changed" if all_or_nothing else "the lines reported above are done"
            raise CommandError(f"Stopped by the database: {in_one_line(error)}; {effect}.") from error
        self._sum_up(counts, all_or_nothing=all_or_nothing)

    def _report(self, results: Iterable[LineResult]) -> Counter[LineOutcome]:
        counts: Counter[LineOutcome] = Counter()
        for result in results:
            counts[result.outcome] += 1
            self.stdout.write(f"line {result.line}: {result.outcome}: {result.text}")
            self.stdout.flush()
        return counts

    def _sum_up(self, counts: Counter[LineOutcome], *, all_or_nothing: bool) -> None:
        refused, lines = counts[LineOutcome.REFUSED], counts.total()
        if refused and all_or_nothing:
            raise CommandError(f"{refused} of {lines} lines refused; no order was changed.")
        summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in LineOutcome if counts[outcome])
        self.stdout.write(f"{lines} lines: {summary}." if lines else "The file has no lines.")
        if refused:
            raise CommandError(f"{refused} of {lines} lines refused; the others are done.")
