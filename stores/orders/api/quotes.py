"""The shape of a request for prices, whose items orders share, and the operations that make and read quotes."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
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
from fulfillment.core.concurrency_limits import limited_if
from fulfillment.core.text import MAX_INTEGER
from stores.budgets.api.serializers import QuoteBudgetSerializer
from stores.budgets.standings import BudgetDecision
from stores.catalog.api.stores import STORE_ID
from stores.catalog.models import LocationType
from stores.catalog.models.store import EXTERNAL_ID
from stores.orders.api.examples import QUOTE_EXAMPLES
from stores.orders.requests import MAX_ITEMS, postal_code_form, price_request_from
from stores.orders.selectors.access import READ, WRITE, StoreAccess, authorize_store
from stores.orders.selectors.quotes import quote_bytes, quote_for
from stores.orders.services.quotes import LONG_QUOTE_BYTES, PreparedQuote, prepare_quote, store_quote
from stores.proofs.api.proofs import ArtworkSerializer, PreflightSerializer

KEY = {
    "max_length": 64,
    "help_text": (
        "Your name for the item, unique within the order. Default: its number, starting at 1, or a free "
        "number."
    ),
}
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
NO_STORE = "There is no such store (`store_invalid`)"
NO_ASSOCIATION = (
    "No association with the store (`association_required`), or one without the grant (`grant_missing`)."
)


class CountryCode(serializers.RegexField):
    default_error_messages = {"invalid": "This must be two capital letters, as in ISO 3166."}

    def __init__(self, **kwargs: object) -> None:
        super().__init__(r"^[A-Z]{2}\Z", **kwargs)


class ItemKey(serializers.RegexField):
    default_error_messages = {"invalid": "Use 1 to 64 letters, digits and . _ - only."}

    def __init__(self, **kwargs: object) -> None:
        super().__init__(EXTERNAL_ID, **kwargs)


class PlaceSerializer(StrictSerializer):
    """Postal codes in the US and Canada must have their country's format."""

    ignored_nulls = True
    default_error_messages = {"invalid_postal_code": "Postal codes of {country} are {form}."}

    def mistakes_across(self, values: Mapping[str, Any]) -> dict[str, Any]:
        country, code = values.get("CountryCode"), values.get("PostalCode")
        if country and code and (form := postal_code_form(country, code)):
            message = self.error_messages["invalid_postal_code"].format(country=country, form=form)
            return {"PostalCode": [ErrorDetail(message, "invalid_postal_code")]}
        return {}


class CountedItemSerializer(StrictSerializer):
    """An item has a Quantity, or an EDDM selection whose pieces are its quantity."""

    ignored_nulls = True
    default_error_messages = {
        "quantity_required": "Quantity, or the EddmSelectionID of a product for EDDM, is required.",
        "artwork_or_data": "Send Artwork or TemplateData, not both.",
        "quantity_or_selection": "Send a Quantity or an EddmSelectionID, not both: the selection has its pieces.",
    }

    ItemKey = ItemKey(required=False, **KEY)
    ProductID = StrictText(max_length=64)
    Quantity = StrictInteger(
        min_value=1, max_value=MAX_INTEGER, required=False, help_text="Required without EddmSelectionID."
    )
    EddmSelectionID = StrictText(
        max_length=64,
        required=False,
        help_text=(
            "One of your EDDM selections, in place of Quantity, for products whose verbose record has "
            "IsEddm. The quantity is its Pieces."
        ),
    )

    Artwork = ArtworkSerializer(
        required=False,
        help_text=(
            "One of your PDFs, in place of TemplateData, for products whose verbose record has TakesArtwork."
        ),
    )

    def mistakes_across(self, values: Mapping[str, Any]) -> dict[str, Any]:
        if "Artwork" in values and values.get("TemplateData"):
            message = self.error_messages["artwork_or_data"]
            return {"Artwork": [ErrorDetail(message, "artwork_or_data")]}
        if "Quantity" not in values and "EddmSelectionID" not in values:
            return {"Quantity": [ErrorDetail(self.error_messages["quantity_required"], "required")]}
        if "Quantity" in values and "EddmSelectionID" in values:
            message = self.error_messages["quantity_or_selection"]
            return {"EddmSelectionID": [ErrorDetail(message, "quantity_or_selection")]}
        return {}


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
        with limited_if(quote_bytes(quote_id) > LONG_QUOTE_BYTES, request.auth.key):
            quote = quote_for(request.auth, store_id, quote_id)
            return json_bytes(request, quote.rendering.encode(), etag=weak_etag(quote.pk))
