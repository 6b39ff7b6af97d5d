"""Reads one uploaded file, raw or as the only file of a form, up to the allowed size."""

from collections.abc import Mapping
from typing import IO, Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request

from fulfillment.core.errors import Invalid
from fulfillment.core.text import parse_number

# Size of the boundaries and headers of a form around one file.
FORM_BYTES = 16_384
HEAD_UNREADABLE = "The head of a part of the form cannot be read."


class RawParser(BaseParser):
    """The raw bytes, at most one more than the view's `maximum_bytes`, so that the rest need not be read."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return stream.read((parser_context or {})["view"].maximum_bytes + 1)


class PNGParser(RawParser):
    media_type = "image/png"


class JPEGParser(RawParser):
    media_type = "image/jpeg"


class PDFParser(RawParser):
    media_type = "application/pdf"


class BMPParser(RawParser):
    media_type = "image/bmp"


class FormParser(MultiPartParser):
    """A form with a file."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except TypeError as error:
            # Python raises it for the name of a part with a number and without one (RFC 2231).
            raise ParseError(HEAD_UNREADABLE) from error


def uploaded_file(request: Request, kind: str, limit: str) -> bytes:
    """The file a view with RawParsers and FormParser was sent; `kind` begins the codes of refusals.

    It may have one byte more than `maximum_bytes`: the service refuses it then, with what else it knows.
    """
    view = request.parser_context["view"]
    length = parse_number(request.META.get("CONTENT_LENGTH") or "0", most=10**19) or 0
    if length > view.maximum_bytes + FORM_BYTES:
        raise Invalid.at(
            "",
            f"{kind}_too_large",
            _("The body has %(length)s bytes; %(limit)s.")
            % {"length": number_format(length, force_grouping=True), "limit": limit},
        )
    media_type = request.content_type.split(";")[0].strip().lower()
    if media_type not in {parser.media_type for parser in view.parser_classes}:
        raise UnsupportedMediaType(request.content_type)
    if media_type != FormParser.media_type:
        return request.data if isinstance(request.data, bytes) else b""
    files = [file for field in request.FILES.lists() for file in field[1]]
    if len(files) != 1:
        raise Invalid.at(
            "",
            f"{kind}_one_file",
            _("The form has %(files)s files; send exactly one.") % {"files": len(files)},
        )
    files[0].seek(0)
    return bytes(files[0].read(view.maximum_bytes + 1))
