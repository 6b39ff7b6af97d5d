from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.callers import Caller
from accounts.permissions import Permission
from applications.registration.api.examples import APPLICATION, APPLICATION_CHANGE, APPLICATION_REQUEST
from applications.registration.api.serializers import (
    ApplicationChangeSerializer,
    ApplicationRequestSerializer,
    ApplicationSerializer,
)
from applications.registration.models import Application
from applications.registration.selectors.applications import (
    application_for,
    application_to_write,
    applications_for,
)
from applications.registration.selectors.records import application_records
from applications.registration.services.applications import (
    change_application,
    create_application,
)
from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import flag_parameter
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.api.viewsets import ApiViewSet

WRITE = ("Application.All.Write", "Application.Self.Write")
VERBOSE = OpenApiParameter(
    "verbose",
    OpenApiTypes.BOOL,
    description="Adds IsTest, OwnerID, StoreIDs, IconURL and Grants. Default false.",
)


class ApplicationViewSet(ApiViewSet):
    tag = "Applications"
    access = {
        "list": Access(
            rule="Users see the applications they have a relationship with, an application itself."
        ),
        "create": Access(
            rule="Any user; the user becomes admin of the new application.",
            applications=False,
            third_party_scope=Permission.ACCOUNT,
        ),
        "retrieve": Access(rule="Users with a role for the application; an application reads itself."),
        "partial_update": Access(
            rule="Users who hold one of the permissions on the application.",
            applications=False,
            permissions=WRITE,
        ),
    }

    errors = {
        "create": {409: "The user has registered as many applications as one may (`too_many_applications`)."},
        "partial_update": {409: "A key to be regenerated has ended; add a new one instead."},
    }

    @extend_schema(
        operation_id="application_list",
        summary="List applications",
        parameters=[VERBOSE],
        responses={200: ApplicationSerializer(many=True)},
        examples=[APPLICATION],
    )
    def list(self, request: Request) -> Response:
        verbose = flag_parameter(request.query_params, "verbose")
        applications = list(applications_for(request.auth))
        return Response(application_records(request.auth, applications, verbose=verbose))

    @extend_schema(
        operation_id="application_create",
        summary="Register an application",
        request=ApplicationRequestSerializer,
        responses={201: ApplicationSerializer},
        examples=[APPLICATION_REQUEST, APPLICATION],
    )
    @idempotent
    def create(self, request: Request) -> Response:
        values = validate_data(ApplicationRequestSerializer, request.data)
        application = create_application(caller=request.auth, values=values)
        location = f"/api/v1/application/{application.pk}"
        record = {**_record(request.auth, application), "IsTest": application.is_test}
        return Response(record, status=201, headers={"Location": location})

    @extend_schema(
        operation_id="application_read",
        summary="Read an application",
        parameters=[VERBOSE],
        responses={200: ApplicationSerializer},
        examples=[APPLICATION],
    )
    def retrieve(self, request: Request, application_id: str) -> Response:
        verbose = flag_parameter(request.query_params, "verbose")
        return Response(_record(request.auth, application_for(request.auth, application_id), verbose=verbose))

    @extend_schema(
        operation_id="application_change",
        summary="Change an application",
        description="Only the properties sent are changed; null keeps the existing value. ReplyUrls replaces the "
        "whole list. Keys not named stay as they are.",
        request=ApplicationChangeSerializer,
        responses={200: ApplicationSerializer},
        examples=[APPLICATION_CHANGE, APPLICATION],
    )
    def partial_update(self, request: Request, application_id: str) -> Response:
        application = application_to_write(request.auth, application_id)
        values = validate_data(ApplicationChangeSerializer, request.data)
        change_application(application=application, values=values)
        return Response(_record(request.auth, application))


def _record(caller: Caller, application: Application, *, verbose: bool = False) -> dict[str, Any]:
    return application_records(caller, [application], verbose=verbose)[0]
