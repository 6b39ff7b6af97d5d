"""Uploads of pictures and PDFs."""

import hashlib
from typing import Any

from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.serializers import Timestamp
from fulfillment.core.api.viewsets import ApiViewSet, in_slot_of
from fulfillment.core.files.uploads import FormParser, JPEGParser, PDFParser, PNGParser, uploaded_file
from fulfillment.core.text import timestamp
from printing.area import Area
from printing.documents import MAX_DOCUMENT_BYTES
from printing.press.artwork import ArtworkPage
from stores.catalog.api.stores import PRODUCT_ACCESS, STORE_ID
from stores.concurrency_limits import PICTURES
from stores.proofs.api.examples import ASSET_EXAMPLE, DOCUMENT_EXAMPLE
from stores.proofs.api.proofs import BoxSerializer
from stores.proofs.links import asset_url
from stores.proofs.selectors import authorized_store_id
from stores.proofs.services.assets import (
    MAX_PICTURE_BYTES,
    CleanDocument,
    CleanPicture,
    add_asset,
    add_document,
    clean_document,
    clean_picture,
)

TOO_LARGE = "a picture has at most 10 MB (10,485,760 bytes), a PDF 100 MB (104,857,600 bytes)"
PICTURE_HEADS = (b"\x89PNG", b"\xff\xd8")


class PageBoxSerializer(BoxSerializer):
    """Millimeters from the upper left corner of the page."""


class AssetPageSerializer(serializers.Serializer):
    """A page as viewers show it: rotated, and at its true size."""

    WidthMM = serializers.FloatField()
    HeightMM = serializers.FloatField()
    TrimBox = PageBoxSerializer(
        allow_null=True, help_text="The CropBox if there is no TrimBox; null if it covers the whole page."
    )
    BleedBox = PageBoxSerializer(
        allow_null=True, help_text="null if there is none, or if it covers the whole page."
    )


class AssetSerializer(serializers.Serializer):
    AssetID = serializers.CharField(
        help_text=(
            "For a picture, the value of an Image field of SubType `Upload`. For a PDF, the value in "
            "`Artwork`."
        )
    )
    Width = serializers.IntegerField(help_text="In pixels; 0 for a PDF.")
    Height = serializers.IntegerField(help_text="In pixels; 0 for a PDF.")
    Pages = AssetPageSerializer(many=True, required=False, help_text="The pages of a PDF.")
    URL = serializers.CharField(help_text="A signed URL that works without credentials for 30 days.")
    Created = Timestamp()


class AssetFormSerializer(serializers.Serializer):
    """One file; its name in the form does not matter."""

    file = serializers.FileField()


class AssetViewSet(ApiViewSet):
    tag = "Proofs"
    parser_classes = [FormParser, PNGParser, JPEGParser, PDFParser]
    access = {"create": PRODUCT_ACCESS}
    errors = {
        "create": {
            400: (
                "There is no such store (`store_invalid`), or the file is not a PNG, JPEG or PDF within "
                "the limits, such as a PDF with a password. The code begins with `asset_`."
            ),
            403: "There is no association with the store (`association_required`).",
            404: "Nothing exists at this URL.",
            409: "Your PDFs use all of your storage (`asset_storage_full`).",
            **concurrency_errors("pictures"),
        }
    }

    @property
    def maximum_bytes(self) -> int:
        is_picture = (self.request.content_type or "").startswith("image/")
        return MAX_PICTURE_BYTES if is_picture else MAX_DOCUMENT_BYTES

    def _authorize(self, request: Request, store_id: str) -> int:
        return authorized_store_id(request.auth, store_id)

    def _prepare(self, request: Request, store_id: str) -> tuple[int, CleanPicture | CleanDocument]:
        store = self._authorize(request, store_id)
        return store, self._clean(request, uploaded_file(request, "asset", TOO_LARGE))

    def _clean(self, request: Request, content: bytes) -> CleanPicture | CleanDocument:
        is_stated = request.content_type.split(";")[0].strip().lower() == PDFParser.media_type
        if is_stated or (b"%PDF-" in content[:1024] and not content.startswith(PICTURE_HEADS)):
            return clean_document(caller=request.auth, content=content)
        return clean_picture(caller=request.auth, content=content)

    def _content(self, request: Request) -> str:
        """The content that identifies a repeated request: the file itself, raw or in a form."""
        return hashlib.sha256(uploaded_file(request, "asset", TOO_LARGE)).hexdigest()

    @extend_schema(
        operation_id="asset_create",
        summary="Upload a picture or a PDF",
        description=(
            "Send one file as the raw body or as the only file of a form. A picture for the image fields "
            "of this store's products is a PNG or JPEG of at most 10 MB and 50 megapixels. It is stored "
            "without metadata, upright and in sRGB. A print-ready PDF has at most 100 MB and 200 pages, "
            "and no password. It is stored without hidden layers, scripts and attachments; annotations and "
            "form fields keep their appearance. Only the application that sent the file can use it, for "
            "this store only."
        ),
        parameters=[STORE_ID],
        # The form comes first: openapi-generator omits the model of a second media type but still imports it.
        request={
            "multipart/form-data": AssetFormSerializer,
            "image/*": OpenApiTypes.BINARY,
            "application/pdf": OpenApiTypes.BINARY,
        },
        responses={201: AssetSerializer},
        examples=[ASSET_EXAMPLE, DOCUMENT_EXAMPLE],
    )
    # A body of 100 MB takes 200 MB of memory.
    @in_slot_of(PICTURES)
    @idempotent(prepare=_prepare, access=_authorize, content=_content)
    def create(self, request: Request, prepared: tuple[int, CleanPicture | CleanDocument]) -> Response:
        store, clean = prepared
        if isinstance(clean, CleanDocument):
            asset = add_document(caller=request.auth, store_id=store, document=clean)
            pages = {"Pages": [_page_record(page) for page in clean.pages]}
        else:
            asset = add_asset(caller=request.auth, store_id=store, picture=clean)
            pages = {}
        record = {
            "AssetID": str(asset.pk),
            "Width": asset.width,
            "Height": asset.height,
            **pages,
            "URL": asset_url(asset),
            "Created": timestamp(asset.created),
        }
        return Response(record, status=201)


def _page_record(page: ArtworkPage) -> dict[str, Any]:
    return {
        "WidthMM": round(page.width, 2),
        "HeightMM": round(page.height, 2),
        "TrimBox": _box_record(page.trim),
        "BleedBox": _box_record(page.bleed),
    }


def _box_record(box: Area | None) -> dict[str, float] | None:
    sides = ("X", "Y", "Width", "Height")
    if box is None:
        return None
    return {name: round(getattr(box, name.lower()), 2) + 0.0 for name in sides}
