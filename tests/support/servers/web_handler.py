"""The handler that the web server calls, on the database connection of the test."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from fulfillment.site.handler import Handler


@contextmanager
def web_handler() -> Iterator[Handler]:
    """Leaves the connection of the test alone, as Django's own client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield Handler()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
