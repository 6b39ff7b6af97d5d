from drf_spectacular.utils import OpenApiExample

BUDGET = {
    "BudgetID": "7c4ce9a2-3a51-4c5f-9a3e-2f7ad1a0c1b4",
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
    "Actor": {"Kind": "User", "ID": "6c1e9fd4-6f1c-4c1c-9d0b-1b9a4f4c2a77", "Name": "Dana Whitfield"},
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
