"""Examples of proofs, pictures and PDFs for the API reference."""

from drf_spectacular.utils import OpenApiExample

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
