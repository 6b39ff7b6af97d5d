from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from fulfillment.core.api.serializers import (
    StrictChoice,
    StrictInteger,
    StrictSerializer,
    StrictText,
    Timestamp,
)
from stores.catalog.models import LocationType
from stores.catalog.models.store import EXTERNAL_ID
from stores.orders.postal_codes import postal_code_form
from stores.orders.price_requests import MAXIMUM_ITEMS

KEY = {
    "max_length": 64,
    "help_text": "Your name of the item, unique within the order. Default: its number, from 1, or a free one.",
}
LARGEST = 2_147_483_647
ONLY_EDDM = "Only of items for an EDDM selection."


class CountryCode(serializers.RegexField):
    default_error_messages = {"invalid": "This must be two capital letters, as in ISO 3166."}

    def __init__(self, **kwargs: object) -> None:
        super().__init__(r"^[A-Z]{2}\Z", **kwargs)


class ItemKey(serializers.RegexField):
    default_error_messages = {"invalid": "Use 1 to 64 letters, digits and . _ - only."}

    def __init__(self, **kwargs: object) -> None:
        super().__init__(EXTERNAL_ID, **kwargs)


class PlaceSerializer(StrictSerializer):
    """Postal codes in the US and Canada must have the form of their country."""

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
        "quantity_or_selection": "Send a Quantity or an EddmSelectionID, not both: the selection has its pieces.",
    }

    ItemKey = ItemKey(required=False, **KEY)
    ProductID = StrictText(max_length=64)
    Quantity = StrictInteger(
        min_value=1, max_value=LARGEST, required=False, help_text="Required without EddmSelectionID."
    )
    EddmSelectionID = StrictText(
        max_length=64,
        required=False,
        help_text="In place of Quantity, for products whose verbose record has IsEddm: an EDDM selection of yours. "
        "The quantity is its Pieces.",
    )

    def mistakes_across(self, values: Mapping[str, Any]) -> dict[str, Any]:
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

    Items = QuoteItemRequestSerializer(many=True, allow_empty=False, max_length=MAXIMUM_ITEMS)
    ShipTo = DestinationSerializer()
    DeliveryMethodCode = StrictText(max_length=40, required=False, help_text="Only this delivery method.")
    ProductionDays = StrictInteger(
        min_value=0, max_value=1000, required=False, help_text="Only this speed, in business days."
    )


class PricedItemSerializer(serializers.Serializer):
    ItemKey = serializers.CharField()
    ProductID = serializers.CharField()
    Quantity = serializers.IntegerField()
    UnitPrice = serializers.FloatField(help_text="Delivered, for one unit; at most 2 decimals.")
    LineTotal = serializers.FloatField()
    EddmSelectionID = serializers.CharField(required=False, help_text=ONLY_EDDM)


class QuoteOptionSerializer(serializers.Serializer):
    OptionID = serializers.CharField()
    DeliveryMethodCode = serializers.CharField()
    ProductionDays = serializers.IntegerField(help_text="Business days.")
    ItemsTotal = serializers.FloatField()
    DeliveryTotal = serializers.FloatField(help_text="0, as prices are delivered prices.")
    Total = serializers.FloatField()
    EarliestDelivery = serializers.DateField(help_text="In the store's time zone.")
    LatestDelivery = serializers.DateField()
    Items = PricedItemSerializer(many=True)


class QuoteIssueSerializer(serializers.Serializer):
    Code = serializers.CharField()
    Pointer = serializers.CharField()
    Message = serializers.CharField()


class QuoteSerializer(serializers.Serializer):
    QuoteID = serializers.CharField()
    StoreID = serializers.CharField()
    Created = Timestamp()
    ExpiresAt = Timestamp()
    Currency = serializers.CharField(help_text="ISO 4217.")
    Options = QuoteOptionSerializer(many=True)
    Issues = QuoteIssueSerializer(many=True)
