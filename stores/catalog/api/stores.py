"""Reads of stores, products and store roles, answered with the bodies that were stored when they were saved."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from django.http import HttpResponse
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from accounts.models import Role
from accounts.permissions import Permission
from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import parse_flag
from fulfillment.core.api.responses import concurrency_errors, is_unchanged, json_bytes, not_modified
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.text import meta
from stores.catalog.api.examples import PRODUCT_EXAMPLES, ROLE_EXAMPLE, STORE_EXAMPLE, STORE_EXAMPLES
from stores.catalog.api.serializers import ProductSerializer, StoreSerializer, StoreUserRoleSerializer
from stores.catalog.selectors.products import product_body, product_list_body, store_user_roles
from stores.catalog.selectors.stores import StoredBody, store_body, store_list_body

LONG_BODY_BYTES = 1024 * 1024
STORE_ID = OpenApiParameter("store_id", str, OpenApiParameter.PATH, description="The StoreID.")
NO_STORE = "There is no such store (`store_invalid`)"
VERBOSE = OpenApiParameter(
    "verbose", bool, default=False, description="`true` adds more members to each record."
)
STORE_RULE = (
    "An application sees the stores it is associated with. A user sees the stores on which they have a "
    "role; a third-party application must be associated with them as well. Operators see all stores, "
    "and everyone sees the demo store."
)
PRODUCT_ACCESS = Access(
    rule=(
        "The calling application needs any association with the store. Through an application of this "
        "service itself, the user needs a role on the store. Operators may read every store, and everyone "
        "the demo store."
    )
)
ERRORS = {
    400: "There is no such store (`store_invalid`), or `verbose` is neither true nor false.",
    403: "There is no association with the store (`association_required`); the message says how to request one.",
    **concurrency_errors("exports or long lists"),
}


def client_tags(request: Request) -> list[str]:
    """The tags in If-None-Match, which are compared weakly; only the first 20 are read."""
    header = request.META.get("HTTP_IF_NONE_MATCH", "")
    return [tag.removeprefix("W/").strip('"') for tag in parse_etags(header)[:20]] if header else []


def stored_response(request: Request, body: StoredBody) -> HttpResponse:
    # Weak, because the compressed and the plain response carry the same tag.
    etag = f'W/"{body.tag}"'
    return (
        not_modified(etag)
        if body.content is None or is_unchanged(request, etag)
        else json_bytes(request, body.content, etag=etag)
    )


def limited_response(request: Request, read_body: Callable[..., StoredBody]) -> HttpResponse:
    """Reads a body above LONG_BODY_BYTES in a slot of FILES, because 10 MB take half a second."""
    tags = client_tags(request)
    body = read_body(client_tags=tags, most=LONG_BODY_BYTES)
    if body.content is not None or body.tag in tags:
        return stored_response(request, body)
    with FILES.slot(request.auth.key):
        return stored_response(request, read_body(client_tags=tags))


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


class StoreViewSet(ApiViewSet):
    tag = "Stores"
    access = {"list": Access(rule=STORE_RULE), "retrieve": Access(rule=STORE_RULE)}
    errors = {
        "retrieve": {
            401: "A credential is missing or invalid, or there is no such store for it (`store_invalid`).",
            404: "Nothing exists at this URL.",
        }
    }

    @extend_schema(
        operation_id="store_list",
        summary="List stores",
        description=(
            "The stores the caller can access, by name. If you send the `ETag` as `If-None-Match`, an "
            "unchanged list returns 304 without a body."
        ),
        parameters=[VERBOSE],
        responses={200: StoreSerializer(many=True)},
        examples=STORE_EXAMPLES,
    )
    def list(self, request: Request) -> HttpResponse:
        verbose = parse_flag(request.query_params, "verbose")
        return stored_response(
            request, store_list_body(request.auth, verbose=verbose, client_tags=client_tags(request))
        )

    @extend_schema(
        operation_id="store_read",
        summary="Read a store",
        description="Returns 401 both for an unknown store and for a store that the caller cannot access.",
        parameters=[STORE_ID],
        responses={200: StoreSerializer},
        examples=[STORE_EXAMPLE],
    )
    def retrieve(self, request: Request, store_id: str) -> HttpResponse:
        return stored_response(request, store_body(request.auth, store_id))


class StoreUserViewSet(ApiViewSet):
    tag = "Users"
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, StoreUserRolesXML, StoreUserRolesTextXML]
    access = {
        "roles": Access(
            rule="Users read their own roles. With `Store.All.Read` on the store, they read the roles of every user. "
            "At the demo store, users see only their own roles.",
            is_for_applications=False,
            permissions=(Permission.STORE_ALL_READ.value, Permission.STORE_SELF_READ.value),
        )
    }
    errors = {
        "roles": {
            400: "There is no such store (`store_invalid`).",
            404: "There is no user with this ID (`user_not_found`).",
        }
    }

    @extend_schema(
        operation_id="store_user_roles",
        summary="Read the roles of a user on a store",
        description="JSON, or XML for `Accept: application/xml` or `text/xml`.",
        parameters=[
            STORE_ID,
            OpenApiParameter("user_id", str, OpenApiParameter.PATH, description="The user's ID."),
        ],
        responses={200: StoreUserRoleSerializer(many=True)},
        examples=[ROLE_EXAMPLE],
    )
    def roles(self, request: Request, store_id: str, user_id: str) -> Response:
        roles = store_user_roles(request.auth, store_id, user_id)
        return Response([store_user_role_record(role, store_id) for role in roles])


def store_user_role_record(role: Role, store_id: str) -> dict[str, Any]:
    return {
        "ID": role.pk,
        "StoreID": store_id,
        "UserID": str(role.user_id),
        "Grant": role.grant,
        "_meta": meta(),
    }


class ProductViewSet(ApiViewSet):
    tag = "Products"
    access = {"list": PRODUCT_ACCESS, "retrieve": PRODUCT_ACCESS}
    errors = {
        "list": {**ERRORS, 404: "Nothing exists at this URL."},
        "retrieve": {**ERRORS, 404: "There is no such product in the store (`product_not_found`)."},
    }

    @extend_schema(
        operation_id="product_list",
        summary="List the products of a store",
        description=(
            "The products that can be ordered, in the order of the catalog. A product has no variants: each "
            "size and each paper is its own product. If you send the `ETag` as `If-None-Match`, an unchanged "
            "list returns 304 without a body."
        ),
        parameters=[STORE_ID, VERBOSE],
        responses={200: ProductSerializer(many=True)},
        examples=PRODUCT_EXAMPLES,
    )
    def list(self, request: Request, store_id: str) -> HttpResponse:
        verbose = parse_flag(request.query_params, "verbose")
        return limited_response(request, partial(product_list_body, request.auth, store_id, verbose=verbose))

    @extend_schema(
        operation_id="product_read",
        summary="Read a product",
        parameters=[
            STORE_ID,
            OpenApiParameter("product_id", str, OpenApiParameter.PATH, description="The product's ID."),
            VERBOSE,
        ],
        responses={200: ProductSerializer},
        examples=PRODUCT_EXAMPLES,
    )
    def retrieve(self, request: Request, store_id: str, product_id: str) -> HttpResponse:
        verbose = parse_flag(request.query_params, "verbose")
        read_body = partial(product_body, request.auth, store_id, product_id, verbose=verbose)
        return limited_response(request, read_body)
