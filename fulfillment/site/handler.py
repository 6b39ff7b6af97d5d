from collections.abc import Callable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler

from fulfillment.site.request_heads import shorten_head


class Handler(WSGIHandler):
    """Django's own, which takes apart no more of an address and a Content-Type than `RequestFilter` lets pass."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        shorten_head(environ)
        return super().__call__(environ, start_response)
