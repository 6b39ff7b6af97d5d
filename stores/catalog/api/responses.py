"""Conditional responses made of stored bodies."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from django.http import HttpResponse
from django.utils.http import parse_etags
from rest_framework.renderers import BaseRenderer
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


class StoreUserRolesXML(BaseRenderer):
    media_type = "application/xml"
    format = "xml"
    charset = "utf-8"

    def render(
        self,
        data: Sequence[Mapping[str, Any]],
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        root = Element("ArrayOfStoreUserRole")
        for record in data:
            role = SubElement(root, "StoreUserRole")
            for name in ("ID", "StoreID", "UserID", "Grant"):
                SubElement(role, name).text = str(record[name])
            messages = SubElement(SubElement(role, "_meta"), "Messages")
            for message in record["_meta"]["Messages"]:
                SubElement(messages, "string").text = message
        body: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
        return body


class StoreUserRolesTextXML(StoreUserRolesXML):
    media_type = "text/xml"
