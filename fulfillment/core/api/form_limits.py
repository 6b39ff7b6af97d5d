"""How large a form may be: percent signs and parts of forms take a hundred times the work of plain bytes."""

from django.http import HttpRequest

# Of who is not signed in, and of clients of the authorization server: a consent with its state is the largest.
SMALL_FORM, FEW_FIELDS = 32_768, 100
# Of who is signed in, without files: 50 reply addresses, each letter of them percent-encoded.
SIGNED_IN_FORM = 262_144
# With files, larger than any form takes, so that the form can say so itself.
SIGNED_IN_BYTES = 32 * 1024 * 1024
URL_ENCODED = "application/x-www-form-urlencoded"


def stated_size(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isascii() and length.isdigit() else 0


def field_count(request: HttpRequest) -> int:
    """At most so many fields are in the body, which is read but not taken apart; only for small ones."""
    if request.content_type == URL_ENCODED:
        return request.body.count(b"&") + 1
    boundary = (request.content_params or {}).get("boundary", "")
    return request.body.count(b"--" + boundary.encode("ascii", "replace")) if boundary else 0
