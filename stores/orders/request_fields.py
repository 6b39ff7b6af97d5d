"""The requests for prices and orders, and their fields."""

import re
from collections.abc import Mapping
from typing import Any

from django.core.validators import EmailValidator, RegexValidator
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from fulfillment.core.api.serializers import (
    StrictChoice,
    StrictInteger,
    StrictSerializer,
    StrictText,
)
from fulfillment.core.text import MAX_INTEGER
from stores.catalog.models import LocationType
from stores.catalog.models.store import EXTERNAL_ID
from stores.proofs.request_fields import ArtworkSerializer

MAX_ITEMS = 500
METADATA_PAIRS = 20
KEY = {
    "max_length": 64,
    "help_text": (
        "Your name for the item, unique within the order. Default: its number, starting at 1, or a free "
        "number."
    ),
}
# USPS Publication 28; Canada Post's addressing guide, which also lists the unused letters.
_POSTAL_CODES = {
    "US": (re.compile(r"[0-9]{5}(-?[0-9]{4})?"), "5 digits, or 9 as in 80202-1234"),
    "CA": (
        re.compile(
            r"[ABCEGHJ-NPRSTVXY][0-9][ABCEGHJ-NPRSTV-Z][ -]?[0-9][ABCEGHJ-NPRSTV-Z][0-9]", re.IGNORECASE
        ),
        "letters and digits in turn, as in K1A 0B1",
    ),
}


def postal_code_form(country_code: str, postal_code: str) -> str | None:
    """A description of the country's form if the postal code does not have it, else None."""
    pattern, form = _POSTAL_CODES.get(country_code, (None, None))
    return form if pattern and not pattern.fullmatch(postal_code) else None


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


class JSONObjectField(serializers.DictField):
    """With `most`, an object with more pairs is refused before its values are checked."""

    default_error_messages = {
        "not_a_dict": "This must be a JSON object.",
        "too_many": "At most {most} pairs.",
    }

    def __init__(self, *, most: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.most = most

    def to_internal_value(self, data: Any) -> Any:
        if self.most is not None and isinstance(data, dict) and len(data) > self.most:
            self.fail("too_many", most=self.most)
        return super().to_internal_value(data)


class MetadataField(JSONObjectField):
    """Up to 20 pairs; names up to 40 characters, values strings up to 500."""

    default_error_messages = {"name_too_long": "Names have 1 to 40 characters."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(most=METADATA_PAIRS, child=StrictText(max_length=500, allow_blank=True), **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and any(not 1 <= len(name) <= 40 for name in data):
            self.fail("name_too_long")
        return super().to_internal_value(data)


class ExternalIDField(StrictText):
    def __init__(self, *, max_length: int = 100, **kwargs: Any) -> None:
        message = f"Use 1 to {max_length} visible characters, no slash, and no blank at the start or end."
        form = RegexValidator(r"^[^/\s](?:[^/]*[^/\s])?\Z", message, "form")
        super().__init__(max_length=max_length, trim_whitespace=False, validators=[form], **kwargs)


class RecipientSerializer(PlaceSerializer):
    Name = StrictText(max_length=100)
    Company = StrictText(max_length=100, required=False, allow_blank=True)
    Address1 = StrictText(max_length=200)
    Address2 = StrictText(max_length=200, required=False, allow_blank=True)
    City = StrictText(max_length=100)
    State = StrictText(max_length=100, required=False, allow_blank=True)
    PostalCode = StrictText(max_length=20)
    CountryCode = CountryCode(help_text="ISO 3166, two letters.")
    Phone = StrictText(max_length=50, required=False, allow_blank=True)
    Email = StrictText(
        max_length=254,
        required=False,
        allow_blank=True,
        validators=[EmailValidator("This must be an e-mail address, as in dana@example.com.")],
    )
    LocationType = StrictChoice(
        choices=LocationType.values,
        required=False,
        help_text="Default: the location type of the products' default price.",
    )


class OrderItemRequestSerializer(CountedItemSerializer):
    TemplateData = JSONObjectField(
        required=False, help_text="The value of each template field by its FieldName, as for a proof."
    )


class OrderRequestSerializer(StrictSerializer):
    ignored_nulls = True
    default_error_messages = {
        "quote_or_method": "Send QuoteID and OptionID, or DeliveryMethodCode and ProductionDays, not both.",
        "option_required": "To order a quote, send both QuoteID and OptionID.",
    }

    ExternalID = ExternalIDField(
        required=False, help_text="Your own ID, permanently unique for the application and the store."
    )
    QuoteID = StrictText(max_length=64, required=False)
    OptionID = StrictText(max_length=60, required=False)
    DeliveryMethodCode = StrictText(max_length=40, required=False, help_text="Default: the first product's.")
    ProductionDays = StrictInteger(
        min_value=0, max_value=1000, required=False, help_text="Business days. Default: the usual speed."
    )
    Recipient = RecipientSerializer()
    Items = OrderItemRequestSerializer(many=True, allow_empty=False, max_length=MAX_ITEMS)
    Metadata = MetadataField(
        required=False,
        help_text=(
            "Up to 20 pairs of your own, which the API returns with the order. Names have up to 40 "
            "characters, values up to 500."
        ),
    )
    ReprintOfOrderID = StrictText(
        max_length=110, required=False, help_text="The OrderID, or `@` and the ExternalID."
    )

    def mistakes_across(self, values: Mapping[str, Any]) -> dict[str, Any]:
        by_quote = {"QuoteID", "OptionID"} & values.keys()
        if len(by_quote) == 1:
            missing = ({"QuoteID", "OptionID"} - by_quote).pop()
            return {missing: [ErrorDetail(self.error_messages["option_required"], "required")]}
        if by_quote and {"DeliveryMethodCode", "ProductionDays"} & values.keys():
            message = ErrorDetail(self.error_messages["quote_or_method"], "quote_or_method")
            return {"non_field_errors": [message]}
        return {}
