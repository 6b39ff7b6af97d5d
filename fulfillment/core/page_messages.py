from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest

from fulfillment.core.errors import DomainError
from fulfillment.core.recorded_texts import translated


@contextmanager
def errors_as_messages(request: HttpRequest) -> Iterator[None]:
    """Shows the refusal of a service as an error on the next page; the rest of the block is skipped."""
    try:
        yield
    except DomainError as error:
        messages.error(request, translated(error.message))
