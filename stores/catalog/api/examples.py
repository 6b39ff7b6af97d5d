from typing import Any

from drf_spectacular.utils import OpenApiExample

from stores.catalog.records import PRODUCT_MEMBERS, STORE_MEMBERS, FieldSpec
from stores.catalog.representations import TO_JSON

DATES = {"Created": "2026-03-01T00:00:00Z", "Updated": "2026-03-01T00:00:00Z"}
OF_STORE = {"ProductCount": 75, **DATES}
OF_PRODUCT = {
    "HasTemplate": True,
    "TakesArtwork": True,
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
    "Currency": "USD",
    **DATES,
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
    "Message": "Phone is too close to the trim and may be cut (1.0 mm from the trim; expected: 3 mm).",
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
DOCUMENT = {
    "AssetID": "0c7d1f52-4b0e-4b73-8f5e-6a1d2c3b4e5f",
    "Width": 0,
    "Height": 0,
    "Pages": [
        {
            "WidthMM": 95.25,
            "HeightMM": 57.15,
            "TrimBox": {"X": 3.18, "Y": 3.18, "Width": 88.9, "Height": 50.8},
            "BleedBox": None,
        }
    ]
    * 2,
    "URL": "https://print.example/assets/1sHpuDjpSS4yaNS8cm31OEABRa8nP2kQ7xVZ0c3m1b5sT9fUe/artwork.pdf",
    "Created": "2026-03-01T00:00:00Z",
}
BLEED_FINDING = {
    "Code": "bleed_missing",
    "Severity": "Error",
    "Page": 1,
    "Box": {"X": 0.0, "Y": 0.0, "Width": 88.9, "Height": 50.8},
    "Found": "0.0 mm of bleed",
    "Wanted": "3.175 mm",
    "Message": (
        "The background has ink at the trim but too little bleed, so a white edge may show after cutting "
        "(0.0 mm of bleed; expected: 3.175 mm)."
    ),
    "Remedy": "Add bleed to the page, and extend backgrounds to its end.",
}
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
DOCUMENT_EXAMPLE = OpenApiExample("PDF", value=DOCUMENT, response_only=True)
ARTWORK_REQUEST_EXAMPLE = OpenApiExample(
    "From the third page on", value={"AssetID": DOCUMENT["AssetID"], "FirstPage": 3}, request_only=True
)
ARTWORK_PROOF_EXAMPLE = OpenApiExample(
    "Proof of a PDF without bleed", value={**PROOF, "Preflight": [BLEED_FINDING]}, response_only=True
)


def _example(specs: tuple[FieldSpec, ...], computed: dict[str, Any], *, verbose: bool) -> dict[str, Any]:
    shown = [spec for spec in specs if spec.type and (verbose or not spec.verbose)]
    return {
        spec.name: computed[spec.name]
        if spec.type == "computed"
        else TO_JSON.get(spec.type, lambda value: value)(spec.example)
        for spec in shown
    }


STORE = _example(STORE_MEMBERS, OF_STORE, verbose=False)
VERBOSE_STORE = _example(STORE_MEMBERS, OF_STORE, verbose=True)
PRODUCT = _example(PRODUCT_MEMBERS, OF_PRODUCT, verbose=False)
VERBOSE_PRODUCT = _example(PRODUCT_MEMBERS, OF_PRODUCT, verbose=True)

STORE_EXAMPLE = OpenApiExample("Store", value=STORE, response_only=True)
STORE_EXAMPLES = [STORE_EXAMPLE, OpenApiExample("Verbose store", value=VERBOSE_STORE, response_only=True)]
PRODUCT_EXAMPLES = [
    OpenApiExample("Product", value=PRODUCT, response_only=True),
    OpenApiExample("Verbose product", value=VERBOSE_PRODUCT, response_only=True),
]
