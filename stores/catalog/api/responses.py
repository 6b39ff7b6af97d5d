"""Conditional responses made of stored bodies."""

from django.http import HttpResponse
from django.utils.http import parse_etags
from rest_framework.request import Request

from fulfillment.core.api.responses import is_unchanged, json_bytes, not_modified
from stores.catalog.selectors.stores import StoredBody


def client_tags(request: Request) -> list[str]:
    """The tags in If-None-Match, which are compared weakly; only the first 20 are read."""
    header = request.META.get("HTTP_IF_NONE_MATCH", "")
    return [tag.removeprefix("W/").strip('"') for tag in parse_etags(header)[:20]] if header else []


def stored_response(request: Request, body: StoredBody) -> HttpResponse:
    # Weak, because the compressed and the plain response carry the same tag.
    etag = f'W/"{body.tag}"'
    return (
        not_modified(etag)
        if body.content is None or is_unchanged(request, etag)
        else json_bytes(request, body.content, etag=etag)
    )
