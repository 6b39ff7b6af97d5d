from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.settings import api_settings

from applications.registration.api.applications import WRITE
from applications.registration.models import Application, ApplicationIcon
from applications.registration.selectors.applications import application_for, application_to_write
from applications.registration.services.icons import CENTRAL_SIDE, MAXIMUM_BYTES, SIDE, set_icon
from fulfillment.core.api.access import Access
from fulfillment.core.api.rendering import MediaTypeOnly
from fulfillment.core.api.responses import is_unchanged, not_modified, weak_etag
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.errors import Invalid, NotFound
from fulfillment.core.files.uploads import BMPParser, JPEGParser, PNGParser, uploaded_file

TOO_LARGE = "an icon is smaller than 102,400 bytes"


class PNGImage(MediaTypeOnly):
    media_type = "image/png"
    format = "png"


class IconFormSerializer(serializers.Serializer):
    """One file; its name in the form does not matter."""

    icon = serializers.FileField()


class IconViewSet(ApiViewSet):
    tag = "Applications"
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, PNGImage]
    parser_classes = [MultiPartParser, PNGParser, JPEGParser, BMPParser]
    maximum_bytes = MAXIMUM_BYTES - 1
    access = {
        "create": Access(
            rule="Users who hold one of the permissions on the application.",
            applications=False,
            permissions=WRITE,
        ),
        "retrieve": Access(rule="Callers that may read the application."),
    }

    @extend_schema(
        operation_id="application_icon_set",
        summary="Set the icon",
        description=f"One PNG, JPEG or BMP image of exactly {SIDE} x {SIDE} pixels, smaller than 100 KB (102,400 "
        f"bytes), as the raw body or as the only file of a form. The mark itself belongs in the central "
        f"{CENTRAL_SIDE} x {CENTRAL_SIDE} pixels. A 24-bit BMP of this size is always too large.",
        # The form comes first: openapi-generator omits the model of a second media type but still imports it.
        request={
            "multipart/form-data": IconFormSerializer,
            "image/*": OpenApiTypes.BINARY,
        },
        responses={204: None},
    )
    def create(self, request: Request, application_id: str) -> HttpResponse:
        application = application_to_write(request.auth, application_id)
        set_icon(application=application, content=uploaded_file(request, "icon", TOO_LARGE))
        response = HttpResponse(status=204)
        del response["Content-Type"]
        return response

    @extend_schema(
        operation_id="application_icon_read",
        summary="Read the icon",
        parameters=[
            OpenApiParameter(
                "size", OpenApiTypes.INT, enum=[SIDE, CENTRAL_SIDE], description="94 gives the centre alone."
            )
        ],
        responses={(200, "image/png"): OpenApiTypes.BINARY},
    )
    def retrieve(self, request: Request, application_id: str) -> HttpResponse:
        icon = _icon_of(application_for(request.auth, application_id))
        content = _rendition(request, icon)
        etag = weak_etag(icon.sha256, len(content))
        if is_unchanged(request, etag):
            return not_modified(etag)
        headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
        return HttpResponse(content, content_type="image/png", headers=headers)


def _icon_of(application: Application) -> ApplicationIcon:
    icon = ApplicationIcon.objects.filter(application=application).first()
    if icon is None:
        raise NotFound("The application has no icon.", code="icon_not_found")
    return icon


def _rendition(request: Request, icon: ApplicationIcon) -> bytes:
    size = request.query_params.get("size", str(SIDE))
    if size not in {str(SIDE), str(CENTRAL_SIDE)}:
        raise Invalid.at(
            "?size", "parameter_invalid", f"size is {size[:40]!r}; allowed: {SIDE}, {CENTRAL_SIDE}."
        )
    return bytes(icon.image if size == str(SIDE) else icon.central_image)
