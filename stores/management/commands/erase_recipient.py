"""Erases a person's data from orders chosen by number, address, or name with postal code."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management import BaseCommand, CommandError
from django.db.models import Q, QuerySet

from fulfillment.core.errors import Conflict, DomainError
from stores.batches.services.personal_data import (
    batches_being_ordered,
    erase_unordered_recipients,
    erase_unordered_rows,
)
from stores.orders.models import Order
from stores.orders.selectors.recipients import (
    names_and_emails,
    names_recipient,
    orders_for_recipient,
    with_reprints,
)
from stores.orders.services.personal_data import erase_order
from stores.orders.services.saved_views import delete_views_naming

# Unchanged orders that are listed; --dry-run lists all.
SHOWN = 5


class Command(BaseCommand):
    help = (
        "Erase the recipients of orders: addresses, print files and every copy. Prices and statuses stay. "
        "Orders that are not shipped yet stay unchanged and are listed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--order", action="append", help="an order ID or number, with its reprints; may be repeated"
        )
        parser.add_argument("--email", default="")
        parser.add_argument("--name", default="", help="together with --postal-code")
        parser.add_argument("--postal-code", default="")
        parser.add_argument("--dry-run", action="store_true", help="list the orders, change nothing")
        parser.add_argument(
            "--force",
            "--even-at-work",  # its name in 0.1.0
            dest="force",
            action="store_true",
            help="also orders that are not shipped yet",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        orders = list(_chosen_orders(options))
        words = [word for word in (options["email"], options["name"], options["postal_code"]) if word]
        unchanged, orders_with_name, kept, failures = [], [], [], []
        if words:
            try:
                self._erase_unordered(words, dry_run=options["dry_run"])
            except DomainError as error:
                failures.append(error.message)
        if options["dry_run"]:
            self._report_views(
                delete_views_naming([*words[:1], *names_and_emails(orders)], dry_run=True), "would be"
            )
            for order in orders:
                self.stdout.write(f"{order.number} {order.pk} {order.get_status_display()}")
            self.stdout.write(f"The recipients of {len(orders)} orders would be erased.")
            return
        views = delete_views_naming(words[:1], dry_run=False)
        for order in orders:
            has_name = names_recipient(order)
            try:
                views += erase_order(order=order, force=options["force"])
                orders_with_name += [str(order.number)] if has_name else []
            except Conflict:
                unchanged.append(str(order.number))
            except DomainError as error:
                kept.append(order)
                failures.append(f"{order.number}: {error.message}")
        self._report_views(views, "were")
        self.stdout.write(f"Erased the recipients of {len(orders) - len(unchanged) - len(kept)} orders.")
        self._report(unchanged, orders_with_name, failures)

    def _erase_unordered(self, words: list[str], *, dry_run: bool) -> None:
        verb = "would be" if dry_run else "were"
        if batches := erase_unordered_recipients(words=words, dry_run=dry_run):
            self.stdout.write(f"{batches} batches to the recipient that are not ordered {verb} cancelled.")
        if waiting := batches_being_ordered(words=words):
            self.stdout.write(
                f"{len(waiting)} batches that are being ordered keep the recipient: {', '.join(waiting)}. Run it again "
                "once they are ordered or cancelled."
            )
        if rows := erase_unordered_rows(words=words, dry_run=dry_run):
            self.stdout.write(f"{rows} rows of batches that are not ordered {verb} deleted.")

    def _report_views(self, views: int, verb: str) -> None:
        if views:
            self.stdout.write(f"{views} saved views that search for the recipient {verb} deleted.")

    def _report(self, unchanged: list[str], orders_with_name: list[str], failures: list[str]) -> None:
        if orders_with_name:
            # All of them: nothing finds them afterwards.
            self.stdout.write(
                f"The ExternalIDs of {len(orders_with_name)} orders stay and seem to name their recipients: "
                f"{', '.join(orders_with_name)}. "
                "If they do, treat dumps and backups as personal data."
            )
        problems = []
        if failures:
            self.stderr.write("\n".join(failures[:SHOWN]))
            problems.append("Not everything could be erased now. Run it again.")
        if unchanged:
            shown = ", ".join(unchanged[:SHOWN]) + (", ..." if len(unchanged) > SHOWN else "")
            problems.append(
                f"{len(unchanged)} orders are not shipped yet and need their address until they are shipped, cancelled "
                f"or rejected: {shown}. Run it again then, or with --force."
            )
        if problems:
            raise CommandError(" ".join(problems))


def _chosen_orders(options: dict[str, Any]) -> QuerySet[Order]:
    by_name = bool(options["name"] and options["postal_code"])
    one_of = [options["order"], options["email"], options["name"] or options["postal_code"]]
    if sum(map(bool, one_of)) != 1 or (one_of[2] and not by_name):
        raise CommandError(
            "Name orders with --order, or a recipient with --email or --name and --postal-code."
        )
    if options["order"]:
        condition = Q()
        for reference in options["order"]:
            condition |= _find_order(reference)
        return with_reprints(Order.objects.filter(condition))
    return orders_for_recipient(
        email=options["email"], name=options["name"], postal_code=options["postal_code"]
    )


def _find_order(reference: str) -> Q:
    try:
        field = {"number": int(reference)} if reference.isdigit() else {"pk": UUID(reference)}
    except ValueError as error:
        raise CommandError(f"{reference!r} is neither an order number nor an order ID.") from error
    if not Order.objects.filter(**field).exists():
        raise CommandError(f"There is no order {reference}.")
    return Q(**field)
