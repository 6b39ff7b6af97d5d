"""Sends a request to the API within this process, through all middleware."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO

from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from fulfillment.core.audit.events import separate_context
from fulfillment.core.http.head_limits import shorten_head

# The rest of a longer body is not read.
MAX_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class InnerResponse:
    status: int
    reason: str
    headers: dict[str, str]
    body: bytes
    is_whole: bool
    milliseconds: float


def send_inner_request(
    outer: HttpRequest, *, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
) -> InnerResponse:
    """The API's response to a request from the client address of `outer`, without its cookies."""
    request = WSGIRequest(_make_environ(outer, method, path, query, headers, body))
    started = time.perf_counter()
    # The API does not use the user's time zone.
    with timezone.override(None), separate_context():
        response = _load_handler().get_response(request)
        content, is_whole = _read_response(response)
    return InnerResponse(
        status=response.status_code,
        reason=response.reason_phrase,
        headers=dict(response.items()),
        body=content,
        is_whole=is_whole,
        milliseconds=1000 * (time.perf_counter() - started),
    )


def _make_environ(
    outer: HttpRequest, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
) -> dict[str, object]:
    environ: dict[str, object] = {
        "REQUEST_METHOD": method,
        # WSGI encodes bytes as Latin-1 characters.
        "PATH_INFO": path.encode().decode("latin-1"),
        "SCRIPT_NAME": "",
        "QUERY_STRING": query,
        "SERVER_NAME": outer.META.get("SERVER_NAME", "localhost"),
        "SERVER_PORT": outer.META.get("SERVER_PORT", "80"),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": outer.META.get("REMOTE_ADDR", ""),
        "HTTP_HOST": outer.get_host(),
        "CONTENT_LENGTH": str(len(body)) if body else "",
        "wsgi.url_scheme": outer.scheme,
        "wsgi.input": BytesIO(body),
    }
    for name, value in headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    shorten_head(environ)
    return environ


def _read_response(response: HttpResponseBase) -> tuple[bytes, bool]:
    body = b""
    try:
        for chunk in response:
            body += chunk
            if len(body) > MAX_BYTES:
                return body[:MAX_BYTES], False
        return body, True
    finally:
        # Not `close`: it signals the end of the request and would close the outer one's connection.
        for close in response._resource_closers:  # type: ignore[attr-defined]  # noqa: SLF001
            close()


@cache
def _load_handler() -> BaseHandler:
    handler = BaseHandler()
    handler.load_middleware()
    return handler
