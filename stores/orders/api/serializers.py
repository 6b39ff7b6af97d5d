from collections.abc import Mapping
from typing import Any

from django.core.validators import EmailValidator, RegexValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from fulfillment.core.api.errors import as_domain_error
from fulfillment.core.api.serializers import (
    Meta,
    StrictChoice,
    StrictInteger,
    StrictList,
    StrictSerializer,
    StrictText,
    Timestamp,
    validate_data,
)
from stores.catalog.models import BudgetType, LocationType
from stores.orders.api.quotes import (
    ONLY_EDDM,
    CountedItemSerializer,
    CountryCode,
    PlaceSerializer,
)
from stores.orders.models import ActorKind, ApprovalState, CancellationState, OrderStatus
from stores.orders.requests import MAX_ITEMS, OrderRequest, order_request_of
from stores.proofs.api.proofs import ArtworkSerializer, PreflightSerializer

STATUS_TEXT = "; ".join(f"{status.value} {status.label}" for status in OrderStatus)
METADATA_PAIRS = 20
VERBOSE = "Only with `verbose=true`."


class JSONObject(serializers.DictField):
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


class MetadataField(JSONObject):
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
    TemplateData = JSONObject(
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


def read_order_request(body: Mapping[str, Any]) -> OrderRequest:
    """The order of a page or a file, by the rules of the API; raises Invalid."""
    try:
        return order_request_of(validate_data(OrderRequestSerializer, body))
    except serializers.ValidationError as error:
        raise as_domain_error(error) from error


class WebAddress(serializers.URLField):
    default_error_messages = {
        "invalid": "This must be an http or https address in ASCII: percent-encode other characters.",
    }

    def to_internal_value(self, data: Any) -> str:
        value: str = super().to_internal_value(data)
        if not value.isascii() or not value.lower().startswith(("https://", "http://")):
            self.fail("invalid")
        return value


class ShipmentRequestSerializer(StrictSerializer):
    ignored_nulls = True

    Carrier = StrictText(max_length=60)
    TrackingNumber = StrictText(max_length=100)
    TrackingURL = WebAddress(max_length=1000, required=False, help_text="http or https, in ASCII.")
    ItemKeys = StrictList(child=StrictText(max_length=64), required=False, max_length=MAX_ITEMS)
    Shipped = Timestamp(required=False, help_text="Default: now.")


@extend_schema_field({"type": "integer", "enum": OrderStatus.values})
class StatusField(StrictInteger):
    """Does not check the value: the service's error lists the allowed ones."""


class StatusRequestSerializer(StrictSerializer):
    ignored_nulls = True

    Status = StatusField(help_text=STATUS_TEXT)
    Shipments = ShipmentRequestSerializer(many=True, required=False, max_length=100)
    Note = StrictText(max_length=1000, required=False, allow_blank=True)


class CancelRequestSerializer(StrictSerializer):
    ignored_nulls = True

    Reason = StrictText(max_length=1000, required=False, allow_blank=True)


class NoteRequestSerializer(StrictSerializer):
    ignored_nulls = True

    Note = StrictText(max_length=1000, required=False, allow_blank=True)


class RefusalRequestSerializer(NoteRequestSerializer):
    pass


class PrintFileSerializer(serializers.Serializer):
    URL = serializers.CharField()
    SHA256 = serializers.CharField()
    Bytes = serializers.IntegerField()


class EddmRouteSerializer(serializers.Serializer):
    PostalCode = serializers.CharField()
    CarrierRouteID = serializers.CharField(
        help_text="A letter and three digits. Unique only together with its PostalCode."
    )
    Pieces = serializers.IntegerField()


class OrderItemSerializer(serializers.Serializer):
    ItemKey = serializers.CharField()
    ProductID = serializers.CharField()
    RowKey = serializers.CharField(required=False, help_text="Its row in a batch of the mode `Items`.")
    ProductName = serializers.CharField()
    Quantity = serializers.IntegerField()
    UnitPrice = serializers.FloatField()
    LineTotal = serializers.FloatField()
    TemplateData = serializers.DictField(allow_null=True)
    Artwork = ArtworkSerializer(required=False, help_text="The PDF that was sent in place of TemplateData.")
    PrintFile = PrintFileSerializer(allow_null=True)
    Preflight = PreflightSerializer(many=True, help_text="What may print badly: warnings of the print file.")
    EddmSelectionID = serializers.CharField(required=False, help_text=ONLY_EDDM)
    EddmVintage = serializers.CharField(
        required=False, help_text=f"The month of the counts, YYYY-MM. {ONLY_EDDM}"
    )
    EddmRoutes = EddmRouteSerializer(
        many=True,
        required=False,
        help_text=f"The routes when the order was placed; their pieces add up to Quantity. {ONLY_EDDM}",
    )
    EddmPapersURL = serializers.CharField(required=False, help_text=ONLY_EDDM)


class ShipmentSerializer(serializers.Serializer):
    Carrier = serializers.CharField()
    TrackingNumber = serializers.CharField()
    TrackingURL = serializers.CharField(allow_null=True)
    ItemKeys = serializers.ListField(child=serializers.CharField())
    Shipped = Timestamp()


class CancellationSerializer(serializers.Serializer):
    State = serializers.ChoiceField(choices=[value for value in CancellationState.values if value])
    Asked = Timestamp(allow_null=True)
    Reason = serializers.CharField()
    Note = serializers.CharField()


class ApprovalReasonSerializer(serializers.Serializer):
    """`Total`: the total is above the limit of the store. `Budget`: a budget has too little left."""

    Kind = serializers.ChoiceField(choices=["Total", "Budget"])
    Limit = serializers.FloatField()
    Total = serializers.FloatField(required=False, help_text="Only with `Total`.")
    BudgetID = serializers.CharField(
        required=False, help_text="This and all members below: only with `Budget`."
    )
    Name = serializers.CharField(required=False)
    Type = serializers.ChoiceField(choices=BudgetType.values, required=False)
    Used = serializers.FloatField(required=False)
    Remaining = serializers.FloatField(required=False)
    Requested = serializers.FloatField(required=False)
    PeriodEnd = serializers.CharField(required=False, allow_null=True)


class ApprovalSerializer(serializers.Serializer):
    State = serializers.ChoiceField(
        choices=[value for value in ApprovalState.values if value],
        help_text="`Expired`: no decision came in time, or the order was cancelled or rejected first.",
    )
    Reasons = ApprovalReasonSerializer(many=True)
    RequestedAt = Timestamp()
    ExpiresAt = Timestamp(help_text="An order still undecided at this time is rejected.")
    DecidedBy = serializers.CharField(allow_null=True, help_text="The UserID of the approver.")
    DecidedAt = Timestamp(allow_null=True)
    Note = serializers.CharField()


class ApproveRequestSerializer(NoteRequestSerializer):
    pass


class DenyRequestSerializer(StrictSerializer):
    Reason = StrictText(max_length=1000)


class HistorySerializer(serializers.Serializer):
    Sequence = serializers.IntegerField()
    PreviousStatus = serializers.IntegerField(allow_null=True)
    Status = serializers.IntegerField(help_text=STATUS_TEXT)
    StatusName = serializers.ChoiceField(choices=OrderStatus.labels)
    Timestamp = Timestamp()
    ActorKind = serializers.ChoiceField(choices=ActorKind.values)
    Note = serializers.CharField()


class OrderIdentitySerializer(serializers.Serializer):
    OrderID = serializers.CharField()
    OrderNumber = serializers.CharField()
    ExternalID = serializers.CharField(allow_null=True)
    StoreID = serializers.CharField()
    ApplicationID = serializers.CharField(allow_null=True)
    Status = serializers.IntegerField(help_text=STATUS_TEXT)
    StatusName = serializers.ChoiceField(choices=OrderStatus.labels)


class OrderSerializer(OrderIdentitySerializer):
    Sequence = serializers.IntegerField(help_text="Rises by 1 with every change.")
    Created = Timestamp()
    Updated = Timestamp()
    CancellableUntil = Timestamp(help_text="A cancellation before this time needs no approval.")
    Cancellation = CancellationSerializer(allow_null=True)
    Approval = ApprovalSerializer(allow_null=True, help_text="Null: it needs no approval.")
    DeliveryMethodCode = serializers.CharField()
    ProductionDays = serializers.IntegerField()
    EarliestDelivery = serializers.DateField()
    LatestDelivery = serializers.DateField()
    Currency = serializers.CharField()
    ItemsTotal = serializers.FloatField()
    DeliveryTotal = serializers.FloatField()
    Total = serializers.FloatField()
    QuoteID = serializers.CharField(allow_null=True)
    OptionID = serializers.CharField(allow_null=True)
    ReprintOfOrderID = serializers.CharField(allow_null=True)
    BatchID = serializers.CharField(allow_null=True, help_text="The batch that it was ordered with.")
    RowKey = serializers.CharField(
        allow_null=True,
        help_text="Its row in a batch of mode `Recipients`. In mode `Items`, each item has one.",
    )
    Recipient = RecipientSerializer()
    Items = OrderItemSerializer(many=True)
    Shipments = ShipmentSerializer(many=True)
    Metadata = serializers.DictField(child=serializers.CharField())
    IsTest = serializers.BooleanField(
        help_text="Whether this is a test order, which is never produced and later removed."
    )
    _meta = Meta()


class ExportRowSerializer(OrderIdentitySerializer):
    Created = Timestamp()
    Updated = Timestamp()
    ProductIDs = serializers.ListField(child=serializers.CharField())
    ItemCount = serializers.IntegerField()
    TotalQuantity = serializers.IntegerField()
    DeliveryMethodCode = serializers.CharField()
    ProductionDays = serializers.IntegerField()
    RecipientName = serializers.CharField()
    RecipientCity = serializers.CharField()
    RecipientState = serializers.CharField()
    RecipientPostalCode = serializers.CharField()
    RecipientCountryCode = serializers.CharField()
    Currency = serializers.CharField()
    Total = serializers.FloatField()
    TrackingNumbers = serializers.ListField(child=serializers.CharField())
    IsTest = serializers.BooleanField(required=False, help_text="Only with `includeTest=true`.")
    Items = OrderItemSerializer(many=True, required=False, help_text=VERBOSE)
    Shipments = ShipmentSerializer(many=True, required=False, help_text=VERBOSE)
    History = HistorySerializer(many=True, required=False, help_text=VERBOSE)
    Recipient = RecipientSerializer(required=False, help_text=VERBOSE)
