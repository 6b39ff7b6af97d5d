from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from fulfillment.core.audit.personal_data import ErasureOptions
from fulfillment.core.errors import DomainError
from fulfillment.operations.privacy import erase_user, find_user


class Command(BaseCommand):
    help = "Erases a person: closes the account and removes the name everywhere. Its actions stay, without a name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "user",
            help="full name (olivia@print.example), e-mail address or ID",
        )
        parser.add_argument(
            "--disable-applications",
            action="store_true",
            help="disable applications without another owner; otherwise they block the erasure",
        )
        parser.add_argument(
            "--erase-orders",
            action="store_true",
            help="also the recipients of orders the user placed, once at rest",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            user = find_user(options["user"])
            full_name = f"{user.username}@{user.tenant.domain}"
            erasure = ErasureOptions(options["disable_applications"], options["erase_orders"])
            remaining = erase_user(user=user, options=erasure)
        except DomainError as error:
            further = " Or run it again with --disable-applications." if error.code == "last_owner" else ""
            raise CommandError(f"{error.message}{further}") from error
        self.stdout.write(f"{full_name} is erased; references now show {user.pk}.")
        for sentence in remaining:
            self.stderr.write(sentence)
