"""Requests for access to a store or an application: made and withdrawn by applicants, decided by operators."""

from typing import Any

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    extend_schema,
    extend_schema_serializer,
)
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.users import USER_ID
from accounts.callers import Caller
from accounts.models import AssociationRequest, AssociationState
from accounts.permissions import GRANTS
from accounts.selectors.associations import association_request_for, association_requests_for
from accounts.services.associations import (
    approve_association,
    deny_association,
    request_association,
    withdraw_association,
)
from applications.registration.api.serializers import APPLICATION_ID
from applications.registration.models import Application
from applications.registration.selectors.applications import (
    application_in_mode,
    application_to_write,
    find_application,
)
from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import parse_state
from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.serializers import (
    Meta,
    StrictChoice,
    StrictList,
    StrictSerializer,
    StrictText,
    Timestamp,
    validate_data,
)
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import slot_if
from fulfillment.core.errors import Forbidden, Invalid, NotFound
from fulfillment.core.text import meta, timestamp
from stores.catalog.models import Store

OPERATORS = Access(rule="Operators may call it.", is_for_applications=False, operator_only=True)
# Decided and withdrawn requests stay on record: one applicant may make tens of thousands.
MAX_LISTED = 1000
# Reading 1,000 requests takes 150 ms.
LONG_LIST = 100
EXAMPLE = OpenApiExample(
    "Association request",
    value={
        "ID": "f0d9b6c8-51b4-4f58-8bb5-0d6b1f3f9c55",
        "ApplicationID": APPLICATION_ID,
        "StoreID": "harbor-press",
        "UserID": None,
        "Grants": ["Store.Self.Read", "Order.Self.Read", "Order.Self.Write"],
        "Message": "We print the postcards of Acme Realty.",
        "State": "Pending",
        "Note": "",
        "RequestedByID": USER_ID,
        "DecidedByID": None,
        "Created": "2026-03-01T00:00:00Z",
        "Decided": None,
        "_meta": {"Messages": []},
    },
    response_only=True,
)
REQUEST_EXAMPLE = OpenApiExample(
    "Request access to a store",
    value={"StoreID": "harbor-press", "Message": "We print the postcards of Acme Realty."},
    request_only=True,
)

APPROVAL_EXAMPLE = OpenApiExample(
    "Approve with chosen grants",
    value={"Grants": ["Store.Self.Read", "Order.Self.Read"], "Note": "Welcome."},
    request_only=True,
)
DENIAL_EXAMPLE = OpenApiExample("Deny", value={"Note": "Please write to us first."}, request_only=True)


class GrantsField(StrictList):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=StrictChoice(choices=GRANTS), max_length=20, **kwargs)


# The name in the API, which generated clients have.
@extend_schema_serializer(component_name="AssociationAsk")
class AssociationRequestSerializer(StrictSerializer):
    ignored_nulls = True
    one_of_these_required = ("StoreID", "ApplicationID")

    StoreID = StrictText(max_length=64, required=False, help_text="The store that an application requests.")
    ApplicationID = StrictText(
        max_length=64,
        required=False,
        help_text="With a StoreID: the application that requests it (default: the calling one). "
        "Without a StoreID: the application you want to join.",
    )
    Grants = GrantsField(required=False, help_text="Default: the usual ones, chosen on approval.")
    Message = StrictText(multiline=True, max_length=2000, required=False, allow_blank=True)


class AssociationApprovalSerializer(StrictSerializer):
    ignored_nulls = True

    Grants = GrantsField(required=False, help_text="Default: the requested grants, else the usual ones.")
    Note = StrictText(multiline=True, max_length=2000, required=False, allow_blank=True)


class AssociationDenialSerializer(StrictSerializer):
    ignored_nulls = True

    Note = StrictText(multiline=True, max_length=2000, required=False, allow_blank=True)


class AssociationSerializer(serializers.Serializer):
    ID = serializers.CharField()
    ApplicationID = serializers.CharField()
    StoreID = serializers.CharField(allow_null=True)
    UserID = serializers.CharField(allow_null=True)
    Grants = serializers.ListField(child=serializers.ChoiceField(choices=GRANTS))
    Message = serializers.CharField()
    State = serializers.ChoiceField(choices=AssociationState.values)
    Note = serializers.CharField()
    RequestedByID = serializers.CharField(allow_null=True)
    DecidedByID = serializers.CharField(allow_null=True)
    Created = Timestamp()
    Decided = Timestamp(allow_null=True)
    _meta = Meta()


class AssociationViewSet(ApiViewSet):
    tag = "Associations"
    access = {
        "create": Access(
            rule="An application, or a user who may change it, requests access to a store. A user requests access "
            "to an application."
        ),
        "list": Access(rule="Callers see their own requests. Operators see all requests."),
        "retrieve": Access(rule="Callers read their own requests. Operators read all requests."),
        "withdraw": Access(rule="Callers withdraw their own pending requests."),
        "approve": OPERATORS,
        "deny": OPERATORS,
    }

    errors = {
        **{action: {409: "The request was already decided."} for action in ("withdraw", "approve", "deny")},
        "list": concurrency_errors("long lists"),
        "create": {409: "The limit of 500 requests in 24 hours is reached (`too_many_associations`)."},
    }

    @extend_schema(
        operation_id="association_request",
        summary="Request an association",
        description=(
            "Returns 201 with the new request, or 200 with the one that is still pending. A test "
            "application's request for the usual grants is approved at once if the store admits test "
            "applications."
        ),
        request=AssociationRequestSerializer,
        responses={201: AssociationSerializer, 200: AssociationSerializer},
        examples=[REQUEST_EXAMPLE, EXAMPLE],
    )
    @idempotent
    def create(self, request: Request) -> Response:
        values = validate_data(AssociationRequestSerializer, request.data)
        caller: Caller = request.auth
        details = {"caller": caller, "grants": values.get("Grants", ()), "message": values.get("Message", "")}
        if store_id := values.get("StoreID"):
            application = _requesting_application(caller, values.get("ApplicationID"))
            requested, created = request_association(
                application=application, store=_find_store(store_id), **details
            )
        else:
            application = _application_to_join(caller, values.get("ApplicationID"))
            requested, created = request_association(
                application=application, user_id=caller.user_id, **details
            )
        headers = {"Location": f"/api/v1/association/{requested.pk}"} if created else {}
        return Response(association_record(requested), status=201 if created else 200, headers=headers)

    @extend_schema(
        operation_id="association_list",
        summary="List association requests",
        description=f"Returns the newest {MAX_LISTED:,} requests, newest first.",
        parameters=[OpenApiParameter("state", str, enum=AssociationState.values)],
        responses={200: AssociationSerializer(many=True)},
        examples=[EXAMPLE],
    )
    def list(self, request: Request) -> Response:
        requests = association_requests_for(
            request.auth, state=parse_state(request.query_params, AssociationState)
        )
        with slot_if(requests[LONG_LIST:].exists(), request.auth.key):
            return Response(
                [association_record(association_request) for association_request in requests[:MAX_LISTED]]
            )

    @extend_schema(
        operation_id="association_read",
        summary="Read an association request",
        responses={200: AssociationSerializer},
        examples=[EXAMPLE],
    )
    def retrieve(self, request: Request, association_id: str) -> Response:
        return Response(association_record(association_request_for(request.auth, association_id)))

    @extend_schema(
        operation_id="association_withdraw",
        summary="Withdraw an association request",
        request=None,
        responses={200: AssociationSerializer},
        examples=[EXAMPLE],
    )
    def withdraw(self, request: Request, association_id: str) -> Response:
        return Response(
            association_record(withdraw_association(caller=request.auth, request_id=association_id))
        )

    @extend_schema(
        operation_id="association_approve",
        summary="Approve an association request",
        request=AssociationApprovalSerializer,
        responses={200: AssociationSerializer},
        examples=[APPROVAL_EXAMPLE, EXAMPLE],
    )
    def approve(self, request: Request, association_id: str) -> Response:
        values = validate_data(AssociationApprovalSerializer, request.data)
        approved = approve_association(
            caller=request.auth,
            request_id=association_id,
            grants=values.get("Grants"),
            note=values.get("Note", ""),
        )
        return Response(association_record(approved))

    @extend_schema(
        operation_id="association_deny",
        summary="Deny an association request",
        request=AssociationDenialSerializer,
        responses={200: AssociationSerializer},
        examples=[DENIAL_EXAMPLE, EXAMPLE],
    )
    def deny(self, request: Request, association_id: str) -> Response:
        values = validate_data(AssociationDenialSerializer, request.data)
        denied = deny_association(caller=request.auth, request_id=association_id, note=values.get("Note", ""))
        return Response(association_record(denied))


def association_record(association_request: AssociationRequest) -> dict[str, Any]:
    return {
        "ID": str(association_request.pk),
        "ApplicationID": str(association_request.application_id),
        "StoreID": association_request.store.external_id if association_request.store else None,
        "UserID": str(association_request.user_id) if association_request.user_id else None,
        "Grants": association_request.grants,
        "Message": association_request.message,
        "State": association_request.state,
        "Note": association_request.note,
        "RequestedByID": str(association_request.requested_by_id)
        if association_request.requested_by_id
        else None,
        "DecidedByID": str(association_request.decided_by_id) if association_request.decided_by_id else None,
        "Created": timestamp(association_request.created),
        "Decided": timestamp(association_request.decided) if association_request.decided else None,
        "_meta": meta(),
    }


def _find_store(store_id: str) -> Store:
    store = Store.objects.filter(external_id=store_id).first()
    if store is None:
        message = (
            f"There is no store {store_id!r}; the directory of the portal lists stores that take requests."
        )
        raise Invalid.at("/StoreID", "store_invalid", message)
    return store


def _requesting_application(caller: Caller, application_id: str | None) -> Application:
    """The application that requests the store: the calling one, or one that the user may write."""
    if not caller.is_application:
        if application_id:
            _application_in_body(caller, application_id)
        return application_to_write(caller, application_id or str(caller.application_id))
    if application_id and _application_in_body(caller, application_id).pk != caller.application_id:
        raise Forbidden(
            "An application may request an association only for itself.", code="foreign_application"
        )
    return find_application(str(caller.application_id))


def _application_to_join(caller: Caller, application_id: str | None) -> Application:
    if caller.is_application:
        raise Invalid.at("/StoreID", "required", "StoreID: name the store the application requests.")
    if not application_id:
        raise Invalid.at("", "required", "Name a StoreID, or the ApplicationID you want to join.")
    return _application_in_body(caller, application_id)


def _application_in_body(caller: Caller, application_id: str) -> Application:
    try:
        return application_in_mode(caller, application_id)
    except NotFound as error:
        raise Invalid.at("/ApplicationID", error.code, error.message) from error
