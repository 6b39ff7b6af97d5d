"""Shows the refusal of a service on pages and in commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand, CommandError
from django.http import HttpRequest
from django.utils.translation import gettext as _

from fulfillment.core.errors import DomainError
from fulfillment.core.recorded_texts import translated


@contextmanager
def errors_as_messages(request: HttpRequest, *, about: object = None) -> Iterator[None]:
    """Shows the refusal of a service as an error on the next page; the rest of the block is skipped.

    One of several records is named by `about`.
    """
    try:
        yield
    except DomainError as error:
        say_refused(request, translated(error.message), about=about)


def say_refused(request: HttpRequest, reason: str, *, about: object = None) -> None:
    message = _("%(record)s: %(reason)s") % {"record": about, "reason": reason}
    messages.error(request, reason if about is None else message)


class ServiceCommand(BaseCommand):
    """Ends with the message of a service that refuses, or of invalid settings."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        run = super().execute
        try:
            return run(*args, **options)
        except DomainError as error:
            raise CommandError(error.message) from error
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
