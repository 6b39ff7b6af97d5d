"""Requests as the bytes that are sent."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from tests.benchmarks.neighbours.attacker import NUMBER

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
# Django takes a form when both are the same.
CSRF = "c" * 32
BOUNDARY = "b" * 24
Headers = Mapping[str, str]
UNIQUE = NUMBER.decode()


def request(method: str, target: str, headers: Headers | None = None, body: bytes = b"") -> bytes:
    """A method that may have a body always says how long it is."""
    fields = {"Host": "127.0.0.1", **(headers or {})}
    if body or method != "GET":
        fields["Content-Length"] = str(len(body))
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def api(method: str, path: str, credentials: Headers, body: Any = None, **headers: str) -> bytes:
    """`body` is JSON already when it is bytes."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    fields = {**credentials, "Content-Type": JSON, **headers}
    return request(method, f"/api/v1{path}", fields, content)


def token_request(**fields: str) -> bytes:
    return request("POST", "/oauth/token", {"Content-Type": FORM}, _encoded(fields))


def form(path: str, cookie: str = "", **fields: str) -> bytes:
    """What a browser sends that was shown the form before."""
    headers = {"Content-Type": FORM, "Cookie": _cookies(cookie)}
    return request("POST", path, headers, _encoded({**fields, "csrfmiddlewaretoken": CSRF}))


def multipart(path: str, cookie: str, fields: Headers, files: Sequence[tuple[str, str, bytes]] = ()) -> bytes:
    """`files` are name, file name and content."""
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode()
        for name, value in {**fields, "csrfmiddlewaretoken": CSRF}.items()
    ]
    parts += [
        f'Content-Disposition: form-data; name="{name}"; filename="{file_name}"\r\n\r\n'.encode() + content
        for name, file_name, content in files
    ]
    line = f"--{BOUNDARY}".encode()
    body = b"".join(line + b"\r\n" + part + b"\r\n" for part in parts) + line + b"--\r\n"
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Cookie": _cookies(cookie)}
    return request("POST", path, headers, body)


def page(path: str, cookie: str) -> bytes:
    return request("GET", path, {"Cookie": cookie})


def _cookies(cookie: str) -> str:
    return "; ".join(filter(None, (cookie, f"csrftoken={CSRF}")))


def _encoded(fields: Headers) -> bytes:
    # The number's place stays readable.
    return urlencode(fields, safe="@").encode()
