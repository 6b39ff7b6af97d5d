"""Makes and reads quotes."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from accounts.api.idempotency import idempotent
from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import concurrency_errors, json_bytes, weak_etag
from fulfillment.core.api.serializers import (
    StrictChoice,
    StrictInteger,
    StrictSerializer,
    StrictText,
    Timestamp,
    validate_data,
)
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import slot_if
from stores.budgets.api.serializers import QuoteBudgetSerializer
from stores.budgets.standings import BudgetDecision
from stores.catalog.api.stores import NO_STORE, STORE_ID
from stores.catalog.models import LocationType
from stores.orders.api.examples import QUOTE_EXAMPLES
from stores.orders.request_bodies import price_request_from
from stores.orders.request_fields import MAX_ITEMS, CountedItemSerializer, CountryCode, PlaceSerializer
from stores.orders.selectors.access import READ, WRITE, StoreAccess, authorize_store
from stores.orders.selectors.quotes import quote_bytes, quote_for
from stores.orders.services.quotes import LONG_QUOTE_BYTES, PreparedQuote, prepare_quote, store_quote
from stores.proofs.api.proofs import PreflightSerializer

ONLY_EDDM = "Only for items ordered for an EDDM selection."
QUOTE_CREATE = Access(
    rule=(
        "Callers who may submit orders to the store may call it. An application needs an association with the "
        "store, and a user needs a role on it. The demo store is open to everyone."
    ),
    permissions=WRITE,
)
QUOTE_READ = Access(
    rule="Callers read their own quotes. With `Order.All.Read`, they read every quote of the store.",
    permissions=READ,
)
NO_ASSOCIATION = (
    "No association with the store (`association_required`), or one without the grant (`grant_missing`)."
)


class QuoteItemRequestSerializer(CountedItemSerializer):
    """An item to price."""


class DestinationSerializer(PlaceSerializer):
    CountryCode = CountryCode(help_text="ISO 3166, two letters.")
    PostalCode = StrictText(max_length=20, required=False, allow_blank=True)
    State = StrictText(max_length=100, required=False, allow_blank=True)
    City = StrictText(max_length=100, required=False, allow_blank=True)
    LocationType = StrictChoice(
        choices=LocationType.values,
        required=False,
        help_text="Default: the location type of the products' default price.",
    )


class QuoteRequestSerializer(StrictSerializer):
    ignored_nulls = True

    Items = QuoteItemRequestSerializer(many=True, allow_empty=False, max_length=MAX_ITEMS)
    ShipTo = DestinationSerializer()
    DeliveryMethodCode = StrictText(max_length=40, required=False, help_text="Only this delivery method.")
    ProductionDays = StrictInteger(
        min_value=0, max_value=1000, required=False, help_text="Only this speed, in business days."
    )


class PricedItemSerializer(serializers.Serializer):
    ItemKey = serializers.CharField()
    ProductID = serializers.CharField()
    Quantity = serializers.IntegerField()
    UnitPrice = serializers.FloatField(help_text="The delivered price of one unit; at most 2 decimals.")
    LineTotal = serializers.FloatField()
    EddmSelectionID = serializers.CharField(required=False, help_text=ONLY_EDDM)


class QuoteOptionSerializer(serializers.Serializer):
    OptionID = serializers.CharField()
    DeliveryMethodCode = serializers.CharField()
    ProductionDays = serializers.IntegerField(help_text="Business days.")
    ItemsTotal = serializers.FloatField()
    DeliveryTotal = serializers.FloatField(help_text="Always 0, because prices include delivery.")
    Total = serializers.FloatField()
    EarliestDelivery = serializers.DateField(help_text="In the store's time zone.")
    LatestDelivery = serializers.DateField()
    BudgetDecision = serializers.ChoiceField(
        choices=BudgetDecision.values,
        help_text=("The decision of the budgets about this option, at the time of the quote."),
    )
    Items = PricedItemSerializer(many=True)


class QuoteIssueSerializer(serializers.Serializer):
    Code = serializers.CharField()
    Pointer = serializers.CharField()
    Message = serializers.CharField()


class QuotedFindingSerializer(PreflightSerializer):
    """A finding in the PDF of an item that may print badly."""

    ItemKey = serializers.CharField()


class QuoteSerializer(serializers.Serializer):
    QuoteID = serializers.CharField()
    StoreID = serializers.CharField()
    Created = Timestamp()
    ExpiresAt = Timestamp()
    Currency = serializers.CharField(help_text="ISO 4217.")
    Options = QuoteOptionSerializer(many=True)
    Budgets = QuoteBudgetSerializer(
        many=True, help_text="The budgets that apply to the caller, at the time of the quote."
    )
    Issues = QuoteIssueSerializer(many=True)
    Preflight = QuotedFindingSerializer(
        many=True, required=False, help_text="Only with Artwork: the findings of its proof and its order."
    )


class QuoteViewSet(ApiViewSet):
    tag = "Orders"
    access = {"create": QUOTE_CREATE, "retrieve": QUOTE_READ}
    errors = {
        "create": {
            400: f"{NO_STORE}, or a rule of the products is broken: `product_unknown`, `quantity_below_minimum`, "
            "`quantity_above_maximum`, `quantity_not_in_steps`, `destination_not_served`, "
            "`delivery_method_unavailable`, `no_common_delivery_method`, `production_days_unavailable`, "
            "`product_not_for_eddm`, `eddm_selection_unknown`, `eddm_selection_expired`, `too_many_routes`, "
            "`too_many_options`. `Errors` points at each. Or preflight found an error in a PDF (`preflight_failed`, "
            "with all findings as `Preflight`).",
            403: NO_ASSOCIATION,
            404: "Nothing exists at this URL.",
            **concurrency_errors("quotes of more than 20 items"),
        },
        "retrieve": {
            400: NO_STORE + ".",
            403: NO_ASSOCIATION,
            404: "There is no such quote (`quote_not_found`).",
            **concurrency_errors("exports or long quotes"),
        },
    }

    def _authorize(self, request: Request, store_id: str) -> StoreAccess:
        return authorize_store(request.auth, store_id, WRITE)

    def _prepare(self, request: Request, store_id: str) -> PreparedQuote:
        access = self._authorize(request, store_id)
        price_request = price_request_from(validate_data(QuoteRequestSerializer, request.data))
        return prepare_quote(access=access, price_request=price_request)

    @extend_schema(
        operation_id="quote_create",
        summary="Request prices",
        description=(
            "Returns an option for each delivery method that all items share, at each production speed that "
            "suits all of them, or only for those you name. Each item is produced at that speed or at a "
            "faster one of its own. Prices are binding until `ExpiresAt`, for 48 hours: order with `QuoteID` "
            "and `OptionID`. They include delivery; the service computes no taxes. `Issues` explains why a "
            "delivery method is not an option."
        ),
        parameters=[STORE_ID],
        request=QuoteRequestSerializer,
        responses={201: QuoteSerializer},
        examples=QUOTE_EXAMPLES,
    )
    @idempotent(prepare=_prepare, access=_authorize)
    def create(self, request: Request, prepared: PreparedQuote) -> HttpResponse:
        quote = store_quote(prepared=prepared)
        response = HttpResponse(quote.rendering, status=201, content_type="application/json")
        response["Location"] = f"/api/v1/store/{quote.store.external_id}/quote/{quote.pk}"
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
        with slot_if(quote_bytes(quote_id) > LONG_QUOTE_BYTES, request.auth.key):
            quote = quote_for(request.auth, store_id, quote_id)
            return json_bytes(request, quote.rendering.encode(), etag=weak_etag(quote.pk))
