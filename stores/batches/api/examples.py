"""Requests and responses that the API reference shows for batches and their rows."""

from drf_spectacular.utils import OpenApiExample

from applications.webhooks.event_types import BATCH_ID

BATCH = {
    "BatchID": BATCH_ID,
    "StoreID": "harbor-press",
    "Name": "Cards for Denver",
    "ProductID": "card-two-sided",
    "Mode": "Items",
    "Status": "Checked",
    "Quantity": 100,
    "DeliveryMethodCode": None,
    "ProductionDays": None,
    "Recipient": {
        "Name": "Dana Whitfield",
        "Address1": "1200 17th Street",
        "City": "Denver",
        "State": "CO",
        "PostalCode": "80202",
        "CountryCode": "US",
    },
    "Columns": ["Name", "Job title", "E-mail"],
    "Mapping": {"Name": "Name", "Title": "Job title", "Email": "E-mail"},
    "Matches": [
        {"Target": "Name", "Column": "Name", "Score": 1.0},
        {"Target": "Title", "Column": "Job title", "Score": 0.9},
        {"Target": "Email", "Column": "E-mail", "Score": 0.95},
    ],
    "FileProblems": [],
    "Counts": {
        "Pending": 0,
        "Ready": 55,
        "Warning": 0,
        "Error": 5,
        "Ordered": 0,
        "Failed": 0,
        "Cancelled": 0,
    },
    "Progress": {"Done": 60, "Total": 60, "SecondsLeft": None},
    "Currency": "USD",
    "Total": 1320.0,
    "Pieces": 5500,
    "PricesExpireAt": "2026-03-03T09:12:45Z",
    "BudgetDecision": "Allowed",
    "Approval": None,
    "ExternalID": None,
    "Note": "",
    "IsTest": False,
    "Created": "2026-03-01T09:12:40Z",
    "Updated": "2026-03-01T09:12:51Z",
}
ROW = {
    "RowKey": "5f2b8c1d2e44a07b11f3",
    "Number": 7,
    "Name": "Luis Ortega",
    "State": "Error",
    "Values": {"Name": "Luis Ortega", "Job title": "Architect", "E-mail": "luis.ortega"},
    "Quantity": 100,
    "Total": 0.0,
    "Problems": [
        {
            "Code": "invalid_email",
            "Severity": "Error",
            "Column": "E-mail",
            "Field": "Email",
            "Value": "luis.ortega",
            "Message": "Email is not an address such as dana@example.com.",
            "Remedy": "Correct the cell in the column E-mail.",
        }
    ],
    "Proof": None,
    "OrderID": None,
}
BATCH_EXAMPLE = OpenApiExample("Batch", value=BATCH, response_only=True, status_codes=["200", "201", "202"])
ROW_EXAMPLE = OpenApiExample("Row", value=ROW, response_only=True)
REQUEST_EXAMPLE = OpenApiExample(
    "Cards for the people of an office",
    value={
        "Name": "Cards for Denver",
        "ProductID": "card-two-sided",
        "Mode": "Items",
        "Quantity": 100,
        "Recipient": BATCH["Recipient"],
    },
    request_only=True,
)
CHANGE_EXAMPLE = OpenApiExample(
    "Another column", value={"Mapping": {"Name": "Name", "Email": "E-mail"}}, request_only=True
)
CELLS_EXAMPLE = OpenApiExample(
    "A corrected cell", value={"E-mail": "luis.ortega@acme.example"}, request_only=True
)
ORDER_EXAMPLE = OpenApiExample(
    "Order the ready rows", value={"ExternalID": "cards-denver-7", "OnlyReady": True}, request_only=True
)
APPROVE_EXAMPLE = OpenApiExample("Approval", value={"Note": "For the new office."}, request_only=True)
DENY_EXAMPLE = OpenApiExample("Denial", value={"Reason": "The budget is for March."}, request_only=True)
CANCEL_EXAMPLE = OpenApiExample("Cancel", value={"Note": "Sent twice."}, request_only=True)
ROWS_EXAMPLE = OpenApiExample(
    "Two people",
    value=[
        {"Name": "Dana Whitfield", "Job title": "Director", "E-mail": "dana@acme.example"},
        {"Name": "Luis Ortega", "Job title": "Architect", "E-mail": "luis@acme.example"},
    ],
    request_only=True,
    media_type="application/json",
)
