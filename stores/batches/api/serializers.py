from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from fulfillment.core.api.serializers import (
    StrictChoice,
    StrictFlag,
    StrictInteger,
    StrictSerializer,
    StrictText,
    Timestamp,
)
from fulfillment.core.text import MAX_INTEGER
from stores.batches.files.rows import MAX_COLUMNS
from stores.batches.models import BatchMode, BatchStatus, RowState
from stores.batches.row_contents import MAX_CELL_LENGTH, REQUIRED_RECIPIENT
from stores.budgets.standings import BudgetDecision
from stores.orders.api.serializers import ApprovalSerializer, NoteRequestSerializer
from stores.orders.request_fields import ExternalIDField, JSONObjectField, RecipientSerializer

MAPPING = (
    "The column for each target. Targets are template fields by `FieldName`, members of the recipient "
    "such as `Recipient.Name`, `RowKey` and `Quantity`. Default: columns are matched by name."
)
MODE = (
    "`Items`: one order to one recipient, an item for each row, at most 500 rows. `Recipients`: an order for each row, "
    "at most 20,000 rows."
)
RECIPIENT = "Applies to all items. With `Recipients`, the default for rows whose cell is blank or missing."


class MappingField(JSONObjectField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(most=MAX_COLUMNS, child=StrictText(max_length=256), **kwargs)


class BatchRecipientSerializer(RecipientSerializer):
    """As the recipient of an order. In mode `Recipients`, the rows may supply any member."""

    def get_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = super().get_fields()
        for field in fields.values():
            field.required = False
        return fields


class BatchChangeSerializer(StrictSerializer):
    """Only the members to change."""

    ignored_nulls = True

    Name = StrictText(max_length=200, required=False, allow_blank=True)
    Quantity = StrictInteger(
        min_value=1,
        max_value=MAX_INTEGER,
        required=False,
        help_text="For rows without a value. Default: the product's.",
    )
    DeliveryMethodCode = StrictText(max_length=40, required=False, help_text="Default: the product's.")
    ProductionDays = StrictInteger(
        min_value=0, max_value=1000, required=False, help_text="Business days. Default: the usual speed."
    )
    Recipient = BatchRecipientSerializer(required=False, help_text=RECIPIENT)
    Mapping = MappingField(required=False, help_text=MAPPING)
    MappingName = StrictText(
        max_length=100,
        required=False,
        help_text="Saves the mapping under this name, for your other batches in the store.",
    )


class BatchRequestSerializer(BatchChangeSerializer):
    default_error_messages = {"required": "All rows of the mode Items go to one recipient."}

    ProductID = StrictText(max_length=64)
    Mode = StrictChoice(choices=BatchMode.values, help_text=MODE)
    MappingName = StrictText(
        max_length=100, required=False, help_text="The name of a saved mapping, in place of `Mapping`."
    )

    def mistakes_across(self, values: Mapping[str, Any]) -> dict[str, Any]:
        if values.get("Mode") != BatchMode.ITEMS:
            return {}
        recipient = values.get("Recipient", {}) or {}
        missing = [name for name in REQUIRED_RECIPIENT if not recipient.get(name)]
        message = ErrorDetail(self.error_messages["required"], "required")
        return {"Recipient": {name: [message] for name in missing}} if missing else {}


class BatchOrderSerializer(StrictSerializer):
    ignored_nulls = True

    ExternalID = ExternalIDField(
        max_length=90,
        required=False,
        help_text=(
            "Your own ID for the order. In mode `Recipients`, the service appends a hyphen and the number "
            "of each row."
        ),
    )
    OnlyReady = StrictFlag(required=False, help_text="Leave out rows in error. Default: false.")


class CellsField(JSONObjectField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            most=MAX_COLUMNS,
            child=StrictText(
                max_length=MAX_CELL_LENGTH, allow_blank=True, trim_whitespace=False, multiline=True
            ),
            **kwargs,
        )


class BatchNoteSerializer(NoteRequestSerializer):
    pass


class RowProblemSerializer(serializers.Serializer):
    """A problem of a row."""

    Code = serializers.CharField()
    Severity = serializers.ChoiceField(
        choices=["Error", "Warning"], help_text="A row with an Error is not ordered."
    )
    Column = serializers.CharField(allow_null=True, help_text="The header of the cell's column.")
    Field = serializers.CharField(allow_null=True, help_text="The target of the column, as in `Mapping`.")
    Value = serializers.CharField(allow_null=True)
    Message = serializers.CharField()
    Remedy = serializers.CharField(help_text="What to do about it.")


class MatchSerializer(serializers.Serializer):
    Target = serializers.CharField()
    Column = serializers.CharField()
    Score = serializers.FloatField(help_text="The similarity of the names, from 0 to 1.")


class BatchCountsSerializer(serializers.Serializer):
    """How many rows are in each state."""

    Pending = serializers.IntegerField(help_text="Not checked yet.")
    Ready = serializers.IntegerField()
    Warning = serializers.IntegerField(help_text="Can be ordered, but have problems to review.")
    Error = serializers.IntegerField(help_text="Cannot be ordered before they are corrected.")
    Ordered = serializers.IntegerField()
    Failed = serializers.IntegerField(help_text="Could not be ordered; their problems say why.")
    Cancelled = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer):
    Done = serializers.IntegerField(help_text="Rows that are checked.")
    Total = serializers.IntegerField()
    SecondsLeft = serializers.IntegerField(
        allow_null=True, help_text="An estimate; null until there is enough data."
    )


class BatchSerializer(serializers.Serializer):
    BatchID = serializers.CharField()
    StoreID = serializers.CharField()
    Name = serializers.CharField()
    ProductID = serializers.CharField()
    Mode = serializers.ChoiceField(choices=BatchMode.values, help_text=MODE)
    Status = serializers.ChoiceField(
        choices=BatchStatus.values,
        help_text="`Empty`: no check has been started. `Ordering` also while it waits for approval.",
    )
    Quantity = serializers.IntegerField(allow_null=True)
    DeliveryMethodCode = serializers.CharField(allow_null=True)
    ProductionDays = serializers.IntegerField(allow_null=True)
    Recipient = BatchRecipientSerializer(allow_null=True, help_text=RECIPIENT)
    Columns = serializers.ListField(
        child=serializers.CharField(), help_text="The column headers of the file."
    )
    Mapping = serializers.DictField(child=serializers.CharField(), help_text=MAPPING)
    Matches = MatchSerializer(
        many=True, help_text="How columns were matched; empty where `Mapping` was sent."
    )
    FileProblems = RowProblemSerializer(many=True, help_text="Problems of the file as a whole.")
    Counts = BatchCountsSerializer()
    Progress = ProgressSerializer()
    Currency = serializers.CharField(help_text="ISO 4217.")
    Total = serializers.FloatField(help_text="The total price of the rows without errors.")
    Pieces = serializers.IntegerField()
    PricesExpireAt = Timestamp(allow_null=True, help_text="The checked prices are binding until this time.")
    BudgetDecision = serializers.ChoiceField(
        choices=BudgetDecision.values,
        help_text=("The decision of the budgets and the store's limit on the whole batch."),
    )
    Approval = ApprovalSerializer(
        allow_null=True, help_text="One approval for all orders together; null if none is needed so far."
    )
    ExternalID = serializers.CharField(allow_null=True)
    Note = serializers.CharField(help_text="Why it was cancelled, or could not be ordered.")
    IsTest = serializers.BooleanField()
    Created = Timestamp()
    Updated = Timestamp()


class RowProofSerializer(serializers.Serializer):
    """Signed URLs that work without credentials for 30 days."""

    PdfURL = serializers.CharField()
    PageURLs = serializers.ListField(child=serializers.CharField(), help_text="Every page as PNG, in order.")


class BatchRowSerializer(serializers.Serializer):
    RowKey = serializers.CharField(
        help_text=(
            "From the column `RowKey`, or else derived from the values: the same row sent again has the "
            "same key."
        )
    )
    Number = serializers.IntegerField(
        help_text=("The row number in a spreadsheet; the headers are usually row 1.")
    )
    Name = serializers.CharField(help_text="From its recipient, or from its template field `Name`.")
    State = serializers.ChoiceField(choices=RowState.values)
    Values = serializers.DictField(child=serializers.CharField(), help_text="The cells by column.")
    Quantity = serializers.IntegerField(allow_null=True)
    Total = serializers.FloatField()
    Problems = RowProblemSerializer(many=True)
    Proof = RowProofSerializer(allow_null=True)
    OrderID = serializers.CharField(allow_null=True)
