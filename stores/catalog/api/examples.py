from drf_spectacular.utils import OpenApiExample

STORE = {
    "StoreID": "summit-print",
    "BudgetEnabled": True,
    "BudgetTypes": [{"Value": "Amount", "Description": "Amount spent"}],
    "BudgetDuration": [{"Value": "Monthly", "Description": "Every month"}],
    "CompanyName": "Summit Print Co.",
}
VERBOSE_STORE = {
    **STORE,
    "Description": "Full-line commercial printer.",
    "Currency": "USD",
    "TimeZone": "America/Denver",
    "IsDemo": False,
    "ProductCount": 75,
    "Created": "2026-03-01T00:00:00Z",
    "Updated": "2026-03-01T00:00:00Z",
}
PRODUCT = {
    "ID": "business-card-standard",
    "APIKey": "BC-STD-001",
    "DefaultQty": 500,
    "MinimumQty": 100,
    "MaximumQty": 10000,
    "IncrementQty": 100,
    "Name": "Standard business cards",
    "Description": "16 pt coated cover, full color on both sides.",
    "ImageURL": "https://print.example/static/catalog/business-card.svg",
    "HasTemplate": True,
    "DeliveryMethod": "GROUND",
    "ShippingMethod": "GROUND",
    "TemplateFields": [
        {
            "Required": True,
            "Type": "Text",
            "SubType": "SingleLine",
            "FieldName": "Name",
            "Prompt": "Name on the card",
            "DefaultValue": "",
            "OrgValue": "",
            "Choices": [],
        }
    ],
    "DeliveredPrices": [
        {
            "DeliveryMethodCode": "GROUND",
            "Description": "Ground, 3-5 business days",
            "Price": 0.12,
            "Country": "United States",
            "CountryCode": "US",
            "Created": "2026-03-01T00:00:00Z",
            "LocationType": "Commercial",
            "IsDefault": True,
        }
    ],
    "ProductionSpeeds": [{"Days": 3, "IsDefault": True}, {"Days": 1, "IsDefault": False}],
}
VERBOSE_PRODUCT = {
    **PRODUCT,
    "Category": "Business cards",
    "Currency": "USD",
    "PageCount": 2,
    "WidthMM": 88.9,
    "HeightMM": 50.8,
    "IsEddm": False,
    "Created": "2026-03-01T00:00:00Z",
    "Updated": "2026-03-01T00:00:00Z",
}
ROLE = {
    "ID": 12,
    "StoreID": "summit-print",
    "UserID": "6c1e9fd4-6f1c-4c1c-9d0b-1b9a4f4c2a77",
    "Grant": "Store.All.Read",
    "_meta": {"Messages": []},
}
ADDRESS = "https://print.example/proofs/kG7rQ0u3yJc5v1n9nYw0dTg2hLQAUWvPpX0m4mQ9o4mB7bq1"
FINDING = {
    "Code": "text_outside_safe_area",
    "Severity": "Warning",
    "Page": 1,
    "Box": {"X": 1.0, "Y": 34.2, "Width": 19.88, "Height": 2.54},
    "Found": "1.0 mm from the trim",
    "Wanted": "3 mm",
    "Message": "Phone is so near to the trim that cutting may touch it: 1.0 mm from the trim; 3 mm wanted.",
    "Remedy": "Move the text further inside, or shorten it.",
}
PROOF = {
    "ProductID": "business-card-standard",
    "Side1URL": f"{ADDRESS}/business-card-standard-page-1.png",
    "Side2URL": f"{ADDRESS}/business-card-standard-page-2.png",
    "PdfURL": f"{ADDRESS}/business-card-standard.pdf",
    "Preflight": [FINDING],
    "PageURLs": [f"{ADDRESS}/business-card-standard-page-{page}.png" for page in (1, 2)],
    "_meta": {"Messages": []},
}
ASSET = {
    "AssetID": "8d5a6e0e-3a52-4b8c-9a35-2f1c9b7d4e10",
    "Width": 2400,
    "Height": 1600,
    "URL": "https://print.example/assets/jVpuDjpSS4yaNS8cm31OEABRa8nP2kQ7xVZ0c3m1b5sT9fUe/image.jpg",
    "Created": "2026-03-01T00:00:00Z",
}

STORE_EXAMPLE = OpenApiExample("Store", value=STORE, response_only=True)
STORE_EXAMPLES = [STORE_EXAMPLE, OpenApiExample("Verbose store", value=VERBOSE_STORE, response_only=True)]
PRODUCT_EXAMPLES = [
    OpenApiExample("Product", value=PRODUCT, response_only=True),
    OpenApiExample("Verbose product", value=VERBOSE_PRODUCT, response_only=True),
]
ROLE_EXAMPLE = OpenApiExample(
    "Store user role", value=ROLE, response_only=True, media_type="application/json"
)
PROOF_EXAMPLE = OpenApiExample("Proof", value=PROOF, response_only=True)
PROOF_REQUEST_EXAMPLE = OpenApiExample(
    "Business card",
    value={"Name": "Eleanor Whitcombe", "Title": "Architect", "Email": "eleanor@meridian.example"},
    request_only=True,
)
ASSET_EXAMPLE = OpenApiExample("Asset", value=ASSET, response_only=True)
