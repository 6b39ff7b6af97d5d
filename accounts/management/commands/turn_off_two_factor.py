from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from accounts.models import User
from accounts.services.two_factor import disable_two_factor


class Command(BaseCommand):
    help = (
        "Turns off two-factor authentication for a user who lost phone and recovery codes. "
        "Verify their identity first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "username",
            help="with the domain, as in olivia@print.example; without it, of DEFAULT_TENANT_DOMAIN",
        )

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        try:
            user = User.objects.get_by_natural_key(username)
        except User.DoesNotExist as error:
            raise CommandError(f"There is no user {username!r}; write name@domain.") from error
        if user.two_factor_since is None:
            self.stdout.write(f"{username} already signs in with a password alone.")
            return
        disable_two_factor(user=user)
        self.stdout.write(f"{username} now signs in with a password alone. Every browser is signed out.")
