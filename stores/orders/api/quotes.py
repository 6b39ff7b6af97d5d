from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from accounts.api.idempotency import idempotent
from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import concurrency_errors, json_bytes, weak_etag
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.api.viewsets import ApiViewSet
from stores.catalog.api.stores import STORE_ID
from stores.orders.api.examples import QUOTE_EXAMPLES
from stores.orders.api.quote_serializers import QuoteRequestSerializer, QuoteSerializer
from stores.orders.api.requests import price_request_from
from stores.orders.selectors.access import READ, WRITE, StoreAccess, authorize_store
from stores.orders.selectors.quotes import quote_for
from stores.orders.services.quotes import create_quote

QUOTE_CREATE = Access(
    rule="Callers who may submit orders to the store: through an association of the application, or as a user "
    "with a role on it. The demo store is everyone's.",
    permissions=WRITE,
)
QUOTE_READ = Access(
    rule="Callers who may read orders of the store: their own quotes, with `Order.All.Read` every one.",
    permissions=READ,
)
NO_STORE = "There is no such store (`store_invalid`)"
NO_ASSOCIATION = (
    "No association with the store (`association_required`), or one without the grant (`grant_missing`)."
)


class QuoteViewSet(ApiViewSet):
    tag = "Orders"
    access = {"create": QUOTE_CREATE, "retrieve": QUOTE_READ}
    errors = {
        "create": {
            400: f"{NO_STORE}, or a rule of the products is broken: `product_unknown`, `quantity_below_minimum`, "
            "`quantity_above_maximum`, `quantity_not_in_steps`, `destination_not_served`, "
            "`delivery_method_unavailable`, `no_common_delivery_method`, `production_days_unavailable`, "
            "`product_not_for_eddm`, `eddm_selection_unknown`, `eddm_selection_expired`, `too_many_routes`. "
            "`Errors` points at each.",
            403: NO_ASSOCIATION,
            404: "There is nothing at this address.",
            **concurrency_errors("quotes of more than 20 items"),
        },
        "retrieve": {
            400: NO_STORE + ".",
            403: NO_ASSOCIATION,
            404: "There is no such quote (`quote_not_found`).",
        },
    }

    def _authorize(self, request: Request, store_id: str) -> StoreAccess:
        return authorize_store(request.auth, store_id, WRITE)

    @extend_schema(
        operation_id="quote_create",
        summary="Request prices",
        description="One option for each delivery method and production speed that all items have, "
        "or only those you name. The prices bind until `ExpiresAt`, 48 hours: order with `QuoteID` and `OptionID`. "
        "`Issues` says why a delivery method is not among the options.",
        parameters=[STORE_ID],
        request=QuoteRequestSerializer,
        responses={201: QuoteSerializer},
        examples=QUOTE_EXAMPLES,
    )
    @idempotent(access=_authorize)
    def create(self, request: Request, store_id: str) -> HttpResponse:
        access = self._authorize(request, store_id)
        price_request = price_request_from(validate_data(QuoteRequestSerializer, request.data))
        quote = create_quote(access=access, price_request=price_request)
        response = HttpResponse(quote.rendering, status=201, content_type="application/json")
        response["Location"] = f"/api/v1/store/{store_id}/quote/{quote.pk}"
        return response

    @extend_schema(
        operation_id="quote_read",
        summary="Read a quote",
        parameters=[
            STORE_ID,
            OpenApiParameter("quote_id", str, OpenApiParameter.PATH, description="The QuoteID."),
        ],
        responses={200: QuoteSerializer},
        examples=QUOTE_EXAMPLES[1:],
    )
    def retrieve(self, request: Request, store_id: str, quote_id: str) -> HttpResponse:
        quote = quote_for(request.auth, store_id, quote_id)
        return json_bytes(request, quote.rendering.encode(), etag=weak_etag(quote.pk))
