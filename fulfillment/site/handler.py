from collections.abc import Callable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler

from fulfillment.core.db.connections import renew_connection
from fulfillment.core.http.head_limits import shorten_head
from fulfillment.core.http.refusal_page import refuse, refused_seconds


class Handler(WSGIHandler):
    """Django's handler with limits on URL and Content-Type, which it parses before `RequestFilter`.

    It refuses the pages of a flood itself.
    """

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        shorten_head(environ)
        if seconds := refused_seconds(environ):
            return refuse(seconds, environ, start_response)
        # So that the first request after a restart of PostgreSQL succeeds.
        renew_connection()
        return super().__call__(environ, start_response)
