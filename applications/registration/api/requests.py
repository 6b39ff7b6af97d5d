"""The log of an application's own calls, page by page."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from applications.registration.selectors.applications import application_for
from applications.registration.selectors.request_log import (
    DEFAULT_TAKE,
    MAX_TAKE,
    CallFilter,
    is_status,
    logged_requests,
    parse_place,
    place_text,
    request_record,
)
from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import (
    AFTER,
    link_header,
    next_page,
    parse_timestamp,
    parse_whole_number,
    take_parameter,
)
from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.serializers import Timestamp
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import slot_if
from fulfillment.core.errors import Invalid, invalid_after

PARAMETERS = [
    OpenApiParameter(
        "status",
        {"type": "string", "pattern": "^([1-5][0-9]{2}|[2-5]xx)$"},
        description="A status such as 404, or a class: 2xx, 3xx, 4xx, 5xx.",
    ),
    OpenApiParameter("code", str, description="Only calls refused with this error code."),
    OpenApiParameter("createdAfter", OpenApiTypes.DATETIME, description="Only calls at or after this time."),
    AFTER,
    take_parameter(default=DEFAULT_TAKE, largest=MAX_TAKE),
    link_header(),
]
EXAMPLE = OpenApiExample(
    "A refused order",
    value={
        "RequestID": "019cb8a14c1e7d2a9d2f6a1f0c9e2b77",
        "Timestamp": "2026-03-04T15:20:11.482913Z",
        "Method": "POST",
        "Path": "/api/v1/store/{storeID}/order",
        "Status": 400,
        "Code": "quantity_invalid",
        "Pointer": "/Items/0/Quantity",
        "Detail": "Quantity: write 100 to 5,000, in steps of 100.",
        "Milliseconds": 12.4,
        "IsForUser": False,
    },
    response_only=True,
)


class LoggedRequestSerializer(serializers.Serializer):
    RequestID = serializers.CharField(help_text="The `X-Request-ID` of the response.")
    Timestamp = Timestamp(help_text="When the request began.")
    Method = serializers.CharField()
    Path = serializers.CharField(help_text="With names in place of values, as in this description.")
    Status = serializers.IntegerField()
    Code = serializers.CharField(allow_null=True, help_text="The error code of a refused call.")
    Pointer = serializers.CharField(allow_null=True, help_text="A JSON pointer to the first error.")
    Detail = serializers.CharField(
        allow_null=True, help_text="The error message, unless it might quote personal data."
    )
    Milliseconds = serializers.FloatField()
    IsForUser = serializers.BooleanField(help_text="Whether the call was made for a user.")


class RequestLogViewSet(ApiViewSet):
    tag = "Applications"
    access = {"list": Access(rule="The application itself may call it, and users with a role for it.")}
    errors = {"list": concurrency_errors("long pages")}

    @extend_schema(
        operation_id="application_request_list",
        summary="List the calls of an application",
        description=(
            "Returns the calls of the last 7 days, newest first; the operator may set another number of "
            "days. A call appears some seconds after its response. Credentials, path values, queries, and "
            'bodies of successful calls are not stored. `Link: rel="next"` returns older calls.'
        ),
        parameters=PARAMETERS,
        responses={200: LoggedRequestSerializer(many=True)},
        examples=[EXAMPLE],
    )
    def list(self, request: Request, application_id: str) -> Response:
        application = application_for(request.auth, application_id)
        query = request.query_params
        take = parse_whole_number(query, "take", default=DEFAULT_TAKE, most=MAX_TAKE)
        filters = CallFilter(
            status=_read_status(query),
            code=query.get("code", "")[:80],
            since=parse_timestamp(query, "createdAfter"),
            before=_read_place(query),
        )
        with slot_if(take > DEFAULT_TAKE, request.auth.key):
            rows = logged_requests(application, filters, take)
        path = f"/application/{application.pk}/request"
        headers = next_page(path, query.items(), place_text(rows[take - 1])) if len(rows) > take else {}
        return Response([request_record(row) for row in rows[:take]], headers=headers)


def _read_status(query: Any) -> str:
    status = str(query.get("status", ""))
    if "status" in query and not is_status(status):
        message = f"status: write a status such as 404, or 2xx, 3xx, 4xx or 5xx; found {status[:40]!r}."
        raise Invalid.at("?status", "parameter_invalid", message)
    return status


def _read_place(query: Any) -> Any:
    place = parse_place(query["after"]) if "after" in query else None
    if "after" in query and place is None:
        raise invalid_after()
    return place
