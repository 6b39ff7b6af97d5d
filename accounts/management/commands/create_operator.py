import getpass
import os
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from accounts.models import Tenant
from accounts.services.users import create_user
from fulfillment.core.errors import DomainError


class Command(BaseCommand):
    help = (
        "Creates an operator. Type the password on a terminal, or send it in the first line of standard "
        "input or in OPERATOR_PASSWORD."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", required=True)
        parser.add_argument("--first-name", default="")
        parser.add_argument("--last-name", default="")
        parser.add_argument("--tenant", default=settings.DEFAULT_TENANT_DOMAIN, help="A domain name.")

    def handle(self, *args: Any, **options: Any) -> None:
        tenants = Tenant.objects
        # Says that the database is away before anybody types a password.
        tenants.exists()
        password = self._read_password()
        try:
            with transaction.atomic():
                tenant, _ = tenants.get_or_create(
                    domain=options["tenant"].lower(), defaults={"name": options["tenant"]}
                )
                user = create_user(
                    tenant=tenant,
                    username=options["username"],
                    first_name=options["first_name"],
                    last_name=options["last_name"],
                    email=options["email"],
                    password=password,
                    is_operator=True,
                    email_is_confirmed=True,
                )
        except DomainError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"{user.username}@{tenant.domain} is an operator and can sign in at /admin/.")

    def _read_password(self) -> str:
        if password := os.environ.get("OPERATOR_PASSWORD"):
            return password
        if not sys.stdin.isatty():
            self.stderr.write("There is no terminal: the password is the first line of standard input.")
            if not (typed := sys.stdin.readline().rstrip("\n")):
                raise CommandError(
                    "Nothing was created: standard input has no password. Run the command on a terminal."
                )
            return typed
        password = getpass.getpass("Password: ")
        if getpass.getpass("Once more: ") != password:
            raise CommandError("The two passwords differ; nothing was created.")
        return password
