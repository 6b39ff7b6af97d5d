import hashlib

from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.serializers import Timestamp, timestamp
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.files.uploads import JPEGParser, PNGParser, uploaded_file
from stores.catalog.api.examples import ASSET_EXAMPLE
from stores.catalog.api.products import PRODUCT_ACCESS
from stores.catalog.api.stores import STORE_ID
from stores.proofs.selectors.proofs import authorized_store_id
from stores.proofs.services.assets import MAXIMUM_BYTES, CleanPicture, add_asset, clean_picture
from stores.proofs.signed_urls import asset_url

TOO_LARGE = "a picture has at most 10 MB (10,485,760 bytes)"


class AssetSerializer(serializers.Serializer):
    AssetID = serializers.CharField(help_text="The value of an Image field of SubType `Upload`.")
    Width = serializers.IntegerField(help_text="Pixels.")
    Height = serializers.IntegerField(help_text="Pixels.")
    URL = serializers.CharField(help_text="Signed; opens without credentials for 30 days.")
    Created = Timestamp()


class AssetFormSerializer(serializers.Serializer):
    """One file; its name in the form does not matter."""

    file = serializers.FileField()


class AssetViewSet(ApiViewSet):
    tag = "Proofs"
    parser_classes = [MultiPartParser, PNGParser, JPEGParser]
    maximum_bytes = MAXIMUM_BYTES
    access = {"create": PRODUCT_ACCESS}
    errors = {
        "create": {
            400: "There is no such store (`store_invalid`), or the file is not one PNG or JPEG picture within the "
            "limits; the code begins with `asset_`.",
            403: "There is no association with the store (`association_required`).",
            404: "There is nothing at this address.",
            **concurrency_errors("pictures"),
        }
    }

    def _authorize(self, request: Request, store_id: str) -> int:
        return authorized_store_id(request.auth, store_id)

    def _prepare(self, request: Request, store_id: str) -> tuple[int, CleanPicture]:
        return self._authorize(request, store_id), clean_picture(
            caller=request.auth, content=uploaded_file(request, "asset", TOO_LARGE)
        )

    def _content(self, request: Request) -> str:
        """The content that identifies a repeated request: the file itself, raw or in a form."""
        return hashlib.sha256(uploaded_file(request, "asset", TOO_LARGE)).hexdigest()

    @extend_schema(
        operation_id="asset_create",
        summary="Upload a picture",
        description="One PNG or JPEG picture for the image fields of this store's products, as the raw body or as the "
        "only file of a form: at most 10 MB and 50 megapixels. It is kept without its metadata, upright and in "
        "sRGB. Only the application that sent it can use it, for this store only.",
        parameters=[STORE_ID],
        # The form comes first: openapi-generator omits the model of a second media type but still imports it.
        request={
            "multipart/form-data": AssetFormSerializer,
            "image/*": OpenApiTypes.BINARY,
        },
        responses={201: AssetSerializer},
        examples=[ASSET_EXAMPLE],
    )
    @idempotent(prepare=_prepare, access=_authorize, content=_content)
    def create(self, request: Request, prepared: tuple[int, CleanPicture]) -> Response:
        store, picture = prepared
        asset = add_asset(caller=request.auth, store_id=store, picture=picture)
        record = {
            "AssetID": str(asset.pk),
            "Width": asset.width,
            "Height": asset.height,
            "URL": asset_url(asset),
            "Created": timestamp(asset.created),
        }
        return Response(record, status=201)
