"""Applications, new values of their keys, and their icons, for callers who may change them."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from accounts.api.idempotency import idempotent
from accounts.callers import Caller
from accounts.concurrency_limits import CHANGES
from accounts.permissions import Permission
from applications.registration.api.serializers import (
    APPLICATION,
    APPLICATION_CHANGE,
    APPLICATION_REQUEST,
    KEY_RESPONSE,
    ApplicationChangeSerializer,
    ApplicationRequestSerializer,
    ApplicationSerializer,
    KeySerializer,
)
from applications.registration.models import Application, ApplicationIcon
from applications.registration.selectors.applications import (
    application_for,
    application_records,
    application_to_write,
    applications_for,
    key_record,
)
from applications.registration.services.applications import change_application, create_application
from applications.registration.services.icons import CENTRAL_SIDE, MAX_ICON_BYTES, SIDE, set_icon
from applications.registration.services.keys import regenerate_key
from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import parse_flag
from fulfillment.core.api.responses import (
    MediaTypeOnly,
    concurrency_errors,
    is_unchanged,
    not_modified,
    weak_etag,
)
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.api.viewsets import ApiViewSet, in_slot_of
from fulfillment.core.concurrency_limits import slot_if
from fulfillment.core.errors import Invalid, NotFound
from fulfillment.core.files.uploads import BMPParser, FormParser, JPEGParser, PNGParser, uploaded_file

WRITE = ("Application.All.Write", "Application.Self.Write")
WRITERS = Access(
    rule="Users who hold one of the permissions on the application may call it.",
    is_for_applications=False,
    permissions=WRITE,
)
VERBOSE = OpenApiParameter(
    "verbose",
    OpenApiTypes.BOOL,
    description="Adds IsTest, OwnerID, StoreIDs, IconURL and Grants. Default false.",
)
BUSY = concurrency_errors("changes of accounts and applications")
# Each may have 100 KB of reply URLs, and ten keys to decrypt.
LONG_LIST, LONG_VERBOSE_LIST = 20, 5
TOO_LARGE = "an icon is smaller than 102,400 bytes"


class ApplicationViewSet(ApiViewSet):
    tag = "Applications"
    access = {
        "list": Access(rule="Users see the applications they have a role for. An application sees itself."),
        "create": Access(
            rule="Every user may call it, and becomes an owner of the new application.",
            is_for_applications=False,
            third_party_scope=Permission.ACCOUNT,
        ),
        "retrieve": Access(
            rule="Users with a role for the application may call it. An application reads itself."
        ),
        "partial_update": WRITERS,
    }

    errors = {
        "list": concurrency_errors("long lists"),
        "create": {
            **BUSY,
            409: ("The user has reached the limit for registered applications (`too_many_applications`)."),
        },
        "partial_update": {
            **BUSY,
            403: "The caller may not change the application, or an operator blocked it (`application_blocked`): "
            "only operators can enable it.",
            409: "The key to regenerate has ended. Add a new key instead.",
        },
    }

    @extend_schema(
        operation_id="application_list",
        summary="List applications",
        parameters=[VERBOSE],
        responses={200: ApplicationSerializer(many=True)},
        examples=[APPLICATION],
    )
    def list(self, request: Request) -> Response:
        verbose = parse_flag(request.query_params, "verbose")
        applications = applications_for(request.auth)
        is_long = applications[LONG_VERBOSE_LIST if verbose else LONG_LIST :].exists()
        with slot_if(is_long, request.auth.key):
            return Response(application_records(request.auth, [*applications], verbose=verbose))

    @extend_schema(
        operation_id="application_create",
        summary="Register an application",
        request=ApplicationRequestSerializer,
        responses={201: ApplicationSerializer},
        examples=[APPLICATION_REQUEST, APPLICATION],
    )
    @in_slot_of(CHANGES)
    @idempotent
    def create(self, request: Request) -> Response:
        values = validate_data(ApplicationRequestSerializer, request.data)
        application = create_application(caller=request.auth, values=values)
        location = f"/api/v1/application/{application.pk}"
        record = {**_read_record(request.auth, application), "IsTest": application.is_test}
        return Response(record, status=201, headers={"Location": location})

    @extend_schema(
        operation_id="application_read",
        summary="Read an application",
        parameters=[VERBOSE],
        responses={200: ApplicationSerializer},
        examples=[APPLICATION],
    )
    def retrieve(self, request: Request, application_id: str) -> Response:
        verbose = parse_flag(request.query_params, "verbose")
        return Response(
            _read_record(request.auth, application_for(request.auth, application_id), verbose=verbose)
        )

    @extend_schema(
        operation_id="application_change",
        summary="Change an application",
        description=(
            "Only the properties you send change; null keeps the existing value. ReplyUrls replaces the "
            "whole list. Other keys do not change."
        ),
        request=ApplicationChangeSerializer,
        responses={200: ApplicationSerializer},
        examples=[APPLICATION_CHANGE, APPLICATION],
    )
    @in_slot_of(CHANGES)
    def partial_update(self, request: Request, application_id: str) -> Response:
        application = application_to_write(request.auth, application_id)
        values = validate_data(ApplicationChangeSerializer, request.data)
        change_application(application=application, values=values)
        return Response(_read_record(request.auth, application))


def _read_record(caller: Caller, application: Application, *, verbose: bool = False) -> dict[str, Any]:
    return application_records(caller, [application], verbose=verbose)[0]


class KeyViewSet(ApiViewSet):
    tag = "Applications"
    access = {
        "regenerate": WRITERS,
    }

    errors = {"regenerate": {409: "The key has ended. Add a new key instead."}}

    @extend_schema(
        operation_id="application_key_regenerate",
        summary="Regenerate a key",
        description=(
            "Replaces the key with a new one that has the same dates, a new secret and a new ID. The old "
            "secret stops working before the response arrives. A request body is ignored."
        ),
        request=None,
        responses={200: KeySerializer},
        examples=[KEY_RESPONSE],
    )
    def regenerate(self, request: Request, application_id: str, key_id: str) -> Response:
        application = application_to_write(request.auth, application_id)
        key = regenerate_key(application=application, key_id=key_id)
        return Response(key_record(key, in_full=True))


class PNGImage(MediaTypeOnly):
    media_type = "image/png"
    format = "png"


class IconFormSerializer(serializers.Serializer):
    """One file; its name in the form does not matter."""

    icon = serializers.FileField()


class IconViewSet(ApiViewSet):
    tag = "Applications"
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, PNGImage]
    parser_classes = [FormParser, PNGParser, JPEGParser, BMPParser]
    maximum_bytes = MAX_ICON_BYTES - 1
    access = {
        "create": WRITERS,
        "retrieve": Access(rule="Every caller who may read the application may call it."),
    }
    errors = {"create": BUSY}

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
    @in_slot_of(CHANGES)
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
                "size",
                OpenApiTypes.INT,
                enum=[SIDE, CENTRAL_SIDE],
                description="`94` returns only the center.",
            )
        ],
        responses={(200, "image/png"): OpenApiTypes.BINARY},
    )
    def retrieve(self, request: Request, application_id: str) -> HttpResponse:
        icon = _get_icon(application_for(request.auth, application_id))
        content = _render_icon(request, icon)
        etag = weak_etag(icon.sha256, len(content))
        if is_unchanged(request, etag):
            return not_modified(etag)
        headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
        return HttpResponse(content, content_type="image/png", headers=headers)


def _get_icon(application: Application) -> ApplicationIcon:
    icon: ApplicationIcon | None = getattr(application, "icon", None)
    if icon is None:
        raise NotFound("The application has no icon.", code="icon_not_found")
    return icon


def _render_icon(request: Request, icon: ApplicationIcon) -> bytes:
    size = request.query_params.get("size", str(SIDE))
    if size not in {str(SIDE), str(CENTRAL_SIDE)}:
        raise Invalid.at(
            "?size", "parameter_invalid", f"size is {size[:40]!r}; allowed: {SIDE}, {CENTRAL_SIDE}."
        )
    return bytes(icon.image if size == str(SIDE) else icon.central_image)
