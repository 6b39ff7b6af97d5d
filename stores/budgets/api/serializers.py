"""What a budget accepts and shows: its scope, limits, periods, balance and entries."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from accounts.api.users import USER_ID
from applications.webhooks.event_types import BUDGET_ID
from fulfillment.core.api.serializers import (
    StrictChoice,
    StrictFlag,
    StrictInteger,
    StrictSerializer,
    StrictText,
    Timestamp,
)
from stores.budgets.models import EntryKind, OverBudget, ScopeKind
from stores.catalog.models.store import BudgetDuration, BudgetType

LIMIT = (
    "In the measure of Type: an amount in the store's currency with at most 2 decimals, else a whole number."
)
SCOPE_ID = (
    "The ID of the store (may be left out), of the user or the application, or the code of the cost center."
)
BUDGET = {
    "BudgetID": BUDGET_ID,
    "StoreID": "harbor-press",
    "Name": "Marketing",
    "Scope": {"Kind": "CostCenter", "ID": "4100", "Name": "Marketing"},
    "Type": "Amount",
    "Limit": 5000.0,
    "Currency": "USD",
    "Duration": "Monthly",
    "StartDate": "2026-01-01",
    "EndDate": None,
    "CarryOver": False,
    "OverBudget": "Refuse",
    "WarnAt": 80,
    "IsEnabled": True,
    "Created": "2025-12-18T16:20:00Z",
    "Updated": "2025-12-18T16:20:00Z",
    "Period": {
        "Start": "2026-03-01T07:00:00Z",
        "End": "2026-04-01T06:00:00Z",
        "Limit": 5500.0,
        "Used": 4100.0,
        "Remaining": 1400.0,
    },
}
ADJUSTMENT = {
    "EntryID": "1043",
    "Kind": "Adjustment",
    "Amount": 500.0,
    "PeriodStart": "2026-03-01T07:00:00Z",
    "OrderID": None,
    "Actor": {"Kind": "User", "ID": USER_ID, "Name": "Dana Whitfield"},
    "Note": "Trade fair in March",
    "Created": "2026-03-03T09:12:45Z",
}
BUDGET_EXAMPLE = OpenApiExample("Budget", value=BUDGET, response_only=True)
ENTRY_EXAMPLE = OpenApiExample("Entry", value=ADJUSTMENT, response_only=True)
REQUEST_EXAMPLE = OpenApiExample(
    "A budget of a cost center",
    value={
        "Name": "Marketing",
        "Scope": {"Kind": "CostCenter", "ID": "4100"},
        "Type": "Amount",
        "Limit": 5000,
        "Duration": "Monthly",
        "StartDate": "2026-01-01",
    },
    request_only=True,
)
CHANGE_EXAMPLE = OpenApiExample("Another limit", value={"Limit": 6000}, request_only=True)
ADJUSTMENT_EXAMPLE = OpenApiExample(
    "More to spend in this period", value={"Amount": 500, "Note": "Trade fair in March"}, request_only=True
)


class MoneyField(serializers.DecimalField):
    """A JSON number with at most 2 decimals."""

    default_error_messages = {"invalid": "This must be a number."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_digits=14, decimal_places=2, coerce_to_string=False, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


class Day(serializers.DateField):
    default_error_messages = {"invalid": "This must be a day such as 2026-03-01."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(input_formats=["%Y-%m-%d"], **kwargs)

    def to_internal_value(self, value: Any) -> Any:
        if not (isinstance(value, str) and value.isascii()):
            self.fail("invalid")
        return super().to_internal_value(value)


class ScopeRequestSerializer(StrictSerializer):
    Kind = StrictChoice(choices=ScopeKind.values)
    ID = StrictText(max_length=64, required=False, help_text=SCOPE_ID)

    default_error_messages = {"id_required": "A scope of this Kind needs an ID."}

    def mistakes_across(self, values: Mapping[str, Any]) -> dict[str, Any]:
        if values.get("Kind") in {None, ScopeKind.STORE} or "ID" in values:
            return {}
        return {"ID": [ErrorDetail(self.error_messages["id_required"], "required")]}


class BudgetChangeSerializer(StrictSerializer):
    """Only the members to change. `EndDate` null removes the end."""

    Name = StrictText(max_length=200, required=False)
    Scope = ScopeRequestSerializer(required=False)
    Type = StrictChoice(
        choices=BudgetType.values, required=False, help_text="One of the store's BudgetTypes."
    )
    Limit = MoneyField(required=False, help_text=LIMIT)
    Duration = StrictChoice(
        choices=BudgetDuration.values, required=False, help_text="One of the store's BudgetDuration."
    )
    StartDate = Day(
        required=False, help_text="Periods begin on it, in the store's time zone. Default: today."
    )
    EndDate = Day(required=False, allow_null=True, help_text="The last day on which it applies.")
    CarryOver = StrictFlag(
        required=False,
        help_text=("Whether the unused rest of a period is added to the next one. Default: false."),
    )
    OverBudget = StrictChoice(
        choices=OverBudget.values,
        required=False,
        help_text=("What happens to an order that exceeds the budget. Default: Refuse."),
    )
    WarnAt = StrictInteger(min_value=1, max_value=100, required=False, help_text="Percent. Default: 80.")
    IsEnabled = StrictFlag(required=False, help_text="Default: true.")


# Another request of the API has a Budget.
@extend_schema_serializer(component_name="NewBudget")
class BudgetRequestSerializer(BudgetChangeSerializer):
    Name = StrictText(max_length=200)
    Scope = ScopeRequestSerializer()
    Type = StrictChoice(choices=BudgetType.values, help_text="One of the store's BudgetTypes.")
    Limit = MoneyField(help_text=LIMIT)
    Duration = StrictChoice(choices=BudgetDuration.values, help_text="One of the store's BudgetDuration.")


class AdjustmentSerializer(StrictSerializer):
    Amount = MoneyField(help_text="Positive: more to spend in this period; negative: less.")
    Note = StrictText(max_length=1000, help_text="The reason. The ledger keeps it.")


class BudgetScopeSerializer(serializers.Serializer):
    Kind = serializers.ChoiceField(choices=ScopeKind.values)
    ID = serializers.CharField()
    Name = serializers.CharField(
        allow_null=True,
        help_text="Null when the person was erased or the application removed, and for people if a third-party "
        "application lacks the scope `Account`.",
    )


class PeriodSerializer(serializers.Serializer):
    Start = Timestamp()
    End = Timestamp(help_text="The first moment after the period.")
    Limit = serializers.FloatField(help_text="The budget's limit, with carry-over and adjustments.")
    Used = serializers.FloatField(help_text="What orders used, minus what was released.")
    Remaining = serializers.FloatField(help_text="Negative if more is used than the limit.")


class BudgetSerializer(serializers.Serializer):
    BudgetID = serializers.CharField()
    StoreID = serializers.CharField()
    Name = serializers.CharField()
    Scope = BudgetScopeSerializer()
    Type = serializers.ChoiceField(choices=BudgetType.values)
    Limit = serializers.FloatField(help_text="The limit for each period.")
    Currency = serializers.CharField(allow_null=True, help_text="ISO 4217; null unless Type is Amount.")
    Duration = serializers.ChoiceField(choices=BudgetDuration.values)
    StartDate = serializers.DateField()
    EndDate = serializers.DateField(allow_null=True)
    CarryOver = serializers.BooleanField()
    OverBudget = serializers.ChoiceField(choices=OverBudget.values)
    WarnAt = serializers.IntegerField()
    IsEnabled = serializers.BooleanField()
    Created = Timestamp()
    Updated = Timestamp()
    Period = PeriodSerializer(
        help_text="Today's; before StartDate the first one, after EndDate the last one."
    )


class BudgetActorSerializer(BudgetScopeSerializer):
    Kind = serializers.ChoiceField(choices=["User", "Application"])


class BudgetEntrySerializer(serializers.Serializer):
    EntryID = serializers.CharField()
    Kind = serializers.ChoiceField(choices=EntryKind.values)
    Amount = serializers.FloatField(help_text="Positive: may be spent; negative: was spent.")
    PeriodStart = Timestamp()
    OrderID = serializers.CharField(allow_null=True)
    Actor = BudgetActorSerializer(
        allow_null=True, help_text="Null if the service created the entry automatically."
    )
    Note = serializers.CharField()
    Created = Timestamp()


class QuoteBudgetSerializer(serializers.Serializer):
    """A budget that applies to the caller, at the time of the quote."""

    BudgetID = serializers.CharField()
    Name = serializers.CharField()
    Type = serializers.ChoiceField(choices=BudgetType.values)
    Limit = serializers.FloatField()
    Used = serializers.FloatField()
    Remaining = serializers.FloatField()
    PeriodEnd = Timestamp()
    OverBudget = serializers.ChoiceField(choices=OverBudget.values)
