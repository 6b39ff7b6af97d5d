from collections.abc import Callable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler

from fulfillment.site.request_heads import shorten_head


class Handler(WSGIHandler):
    """Django's handler with limits on what it parses of URL and Content-Type before `RequestFilter`."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        shorten_head(environ)
        return super().__call__(environ, start_response)
