"""New accounts, the API's records of people and their roles, and the search for known addresses."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.callers import Caller
from accounts.concurrency_limits import CHANGES
from accounts.models import Role, User
from accounts.names import MAX_NAME_LENGTH, PATTERN
from accounts.permissions import GRANTS, Permission
from accounts.selectors.users import known_addresses, user_by_id, user_roles
from accounts.services.users import create_user
from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.serializers import Meta, StrictSerializer, StrictText, validate_data
from fulfillment.core.api.viewsets import ApiViewSet, in_slot_of
from fulfillment.core.errors import CountedFaults, Fault, Invalid
from fulfillment.core.text import meta

USER_ID = "6c1e9fd4-6f1c-4c1c-9d0b-1b9a4f4c2a77"
USER = {
    "ID": USER_ID,
    "Username": "jane.doe",
    "UsernameWithDomain": "jane.doe@print.example",
    "FirstName": "Jane",
    "LastName": "Doe",
    "Email": "jane@print.example",
    "Phone": "",
    "IsOperatorUser": False,
    "_meta": {"Messages": []},
}
USER_EXAMPLES = [
    OpenApiExample(
        "New user",
        value={
            "Username": "jane.doe",
            "FirstName": "Jane",
            "LastName": "Doe",
            "Email": "jane@print.example",
            "Password": "a long pass phrase",
        },
        request_only=True,
    ),
    OpenApiExample("User", value=USER, response_only=True),
]
ROLE_EXAMPLE = OpenApiExample(
    "Role",
    value={
        "ID": 12,
        "ApplicationID": None,
        "StoreID": "summit-print",
        "UserID": USER_ID,
        "Grant": "Store.All.Read",
        "_meta": {"Messages": []},
    },
    response_only=True,
)


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": MAX_NAME_LENGTH, "pattern": PATTERN})
class UsernameField(StrictText):
    """A text that is not checked here: the service checks names together with all other fields."""


class UserRequestSerializer(StrictSerializer):
    Username = UsernameField(
        max_length=MAX_NAME_LENGTH,
        trim_whitespace=False,
        help_text=(
            "Unique in the tenant, regardless of case and letter width. Follows the PRECIS profile "
            "UsernameCaseMapped (RFC 8265) and uses one script. Shown as it was sent."
        ),
    )
    FirstName = StrictText(max_length=150)
    LastName = StrictText(max_length=150)
    Email = StrictText(max_length=254)
    Password = StrictText(max_length=1024, trim_whitespace=False, write_only=True)
    Phone = StrictText(max_length=50, required=False, allow_blank=True, allow_null=True)
    ID = serializers.CharField(read_only=True)
    UsernameWithDomain = serializers.CharField(read_only=True)
    IsOperatorUser = serializers.BooleanField(read_only=True)


class UserSerializer(serializers.Serializer):
    ID = serializers.CharField()
    Username = serializers.CharField()
    UsernameWithDomain = serializers.CharField()
    FirstName = serializers.CharField()
    LastName = serializers.CharField()
    Email = serializers.CharField()
    Phone = serializers.CharField(allow_blank=True)
    IsOperatorUser = serializers.BooleanField()
    _meta = Meta()


class RoleSerializer(serializers.Serializer):
    ID = serializers.IntegerField()
    ApplicationID = serializers.CharField(allow_null=True)
    StoreID = serializers.CharField(allow_null=True)
    UserID = serializers.CharField(allow_null=True)
    Grant = serializers.ChoiceField(choices=GRANTS)
    _meta = Meta()


class UserViewSet(ApiViewSet):
    tag = "Users"
    access = {
        "create": Access(
            rule="Every user may call it. The new user joins the caller's tenant.",
            is_for_applications=False,
            third_party_scope=Permission.ACCOUNT,
        ),
        "me": Access(
            rule="Every user may call it.", is_for_applications=False, third_party_scope=Permission.ACCOUNT
        ),
        "roles": Access(rule="Operators may call it.", is_for_applications=False, operator_only=True),
        "emails": Access(
            rule="Callers look up addresses in their own tenant. Operators look them up in every tenant.",
            third_party_scope=Permission.ACCOUNT,
        ),
    }

    errors = {
        "create": {
            **concurrency_errors("changes of accounts and applications, or passwords to check,"),
            429: "The subscription used up its requests for this minute, the caller has too many changes of accounts "
            "and applications, or passwords to check, in progress (`too_many_at_once`), or one person created too "
            "many accounts within a day (`too_many_accounts`). Try again after Retry-After seconds.",
        },
        "emails": {404: "There is no such tenant (reported to operators only)."},
    }

    @extend_schema(
        operation_id="user_create",
        summary="Create a user",
        request=UserRequestSerializer,
        description=(
            "The service mails a confirmation link to the address. Until the link is opened, the new "
            "user's requests count against the limit of the user who created it, unless that is an "
            "operator."
        ),
        responses={200: UserSerializer},
        examples=USER_EXAMPLES,
    )
    @in_slot_of(CHANGES)
    @idempotent
    def create(self, request: Request) -> Response:
        values = validate_data(UserRequestSerializer, request.data)
        maker = user_by_id(str(request.auth.user_id))
        user = create_user(
            tenant=maker.tenant,
            username=values["Username"],
            first_name=values["FirstName"],
            last_name=values["LastName"],
            email=values["Email"],
            password=values["Password"],
            phone=values.get("Phone") or "",
            # Operators may create any number of accounts; each has its own limits.
            made_by=None if request.auth.is_operator else maker,
        )
        return Response(user_record(user))

    @extend_schema(
        operation_id="user_self",
        summary="Read the current user",
        responses={200: UserSerializer},
        examples=USER_EXAMPLES[1:],
    )
    def me(self, request: Request) -> Response:
        return Response(user_record(user_by_id(str(request.auth.user_id))))

    @extend_schema(
        operation_id="user_roles",
        summary="Read the roles of a user",
        responses={200: RoleSerializer(many=True)},
        examples=[ROLE_EXAMPLE],
    )
    def roles(self, request: Request, user_id: str) -> Response:
        return Response([role_record(role) for role in user_roles(request.auth, user_by_id(user_id))])

    @extend_schema(
        operation_id="user_emails",
        summary="Find addresses that belong to users",
        description=(
            "Returns, in the order sent, the addresses that belong to an active user of the tenant; "
            "unknown addresses are absent. Case does not matter. At most 100 addresses."
        ),
        parameters=[OpenApiParameter("tenant", str, description="A domain name. Default: your own tenant.")],
        request=serializers.ListSerializer(child=serializers.CharField(allow_blank=True), max_length=100),
        responses={200: serializers.ListSerializer(child=serializers.CharField())},
        examples=[OpenApiExample("Addresses", value="jane@print.example")],
    )
    def emails(self, request: Request) -> Response:
        addresses = _read_addresses(request.data)
        caller: Caller = request.auth
        tenant = request.query_params.get("tenant")
        return Response(known_addresses(caller, addresses, tenant=tenant))


def user_record(user: User) -> dict[str, Any]:
    return {
        "ID": str(user.pk),
        "Username": user.username,
        "UsernameWithDomain": f"{user.username}@{user.tenant.domain}",
        "FirstName": user.first_name,
        "LastName": user.last_name,
        "Email": user.email,
        "Phone": user.phone,
        "IsOperatorUser": user.is_operator,
        "_meta": meta(),
    }


def role_record(role: Role) -> dict[str, Any]:
    return {
        "ID": role.pk,
        "ApplicationID": str(role.application_id) if role.application_id else None,
        "StoreID": role.store.external_id if role.store else None,
        "UserID": str(role.user_id) if role.user_id else None,
        "Grant": role.grant,
        "_meta": meta(),
    }


def _read_addresses(body: Any) -> list[str]:
    if not isinstance(body, list):
        raise Invalid.at("", "not_an_array", "The body must be a JSON array of strings.")
    faults = CountedFaults()
    for index, address in enumerate(body):
        if not isinstance(address, str) and faults.count_one():
            faults.listed.append(Fault(f"/{index}", "invalid", "This must be a string."))
    if faults.count:
        message = "The body must be a JSON array of strings."
        raise Invalid(message, code="invalid_body", faults=faults.listed, fault_count=faults.count)
    return body
