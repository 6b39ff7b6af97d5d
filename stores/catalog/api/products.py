from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import flag_parameter
from fulfillment.core.api.viewsets import ApiViewSet
from stores.catalog.api.examples import PRODUCT_EXAMPLES
from stores.catalog.api.serializers import ProductSerializer
from stores.catalog.api.stores import STORE_ID, VERBOSE, client_tags, stored_response
from stores.catalog.selectors.products import product_body, product_list_body

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
        verbose = flag_parameter(request.query_params, "verbose")
        body = product_list_body(request.auth, store_id, verbose=verbose, client_tags=client_tags(request))
        return stored_response(request, body)

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
        body = product_body(
            request.auth,
            store_id,
            product_id,
            verbose=flag_parameter(request.query_params, "verbose"),
            client_tags=client_tags(request),
        )
        return stored_response(request, body)
