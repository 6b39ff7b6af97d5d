from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from fulfillment.core.api.serializers import (
    Meta,
    StrictInteger,
    StrictList,
    StrictSerializer,
    StrictText,
    Timestamp,
)
from stores.catalog.models import BudgetType
from stores.orders.api.quotes import ONLY_EDDM
from stores.orders.models import ActorKind, ApprovalState, CancellationState, OrderStatus
from stores.orders.request_fields import MAX_ITEMS, RecipientSerializer
from stores.proofs.api.proofs import PreflightSerializer
from stores.proofs.request_fields import ArtworkSerializer

STATUS_TEXT = "; ".join(f"{status.value} {status.label}" for status in OrderStatus)
VERBOSE = "Only with `verbose=true`."


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
