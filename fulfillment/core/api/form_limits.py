"""Limits of form bodies: percent-encoding and multipart cost a hundred times the work of plain bytes."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest

View = TypeVar("View", bound=Callable[..., Any])

# For signed-out visitors and OAuth clients; the largest form is a consent with its state.
SMALL_FORM, FEW_FIELDS = 32_768, 100
# For signed-in users, without files: 50 percent-encoded reply URLs.
SIGNED_IN_FORM = 262_144
# With files: larger than any form accepts, so that the form reports the error itself.
SIGNED_IN_BYTES = 32 * 1024 * 1024
URL_ENCODED = "application/x-www-form-urlencoded"


def takes_large_forms(view: View) -> View:
    """Marks a page outside of the console whose form may be large, because it has files or long texts."""
    view.takes_large_forms = True  # type: ignore[attr-defined]
    return view


def stated_size(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isascii() and length.isdigit() else 0


def field_count(request: HttpRequest) -> int:
    """An upper bound for the number of fields, without parsing the body; only for small bodies."""
    if request.content_type == URL_ENCODED:
        return request.body.count(b"&") + 1
    boundary = (request.content_params or {}).get("boundary", "")
    return request.body.count(b"--" + boundary.encode("ascii", "replace")) if boundary else 0
