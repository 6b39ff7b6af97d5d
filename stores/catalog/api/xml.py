from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from rest_framework.renderers import BaseRenderer


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
