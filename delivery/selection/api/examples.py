"""Examples of the API description."""

from drf_spectacular.utils import OpenApiExample

ROUTE = {
    "PostalCode": "84101",
    "CarrierRouteID": "C001",
    "ResidentialCount": 612,
    "BusinessCount": 148,
    "TotalCount": 760,
    "Pieces": 612,
    "MedianIncome": 61500,
    "MedianAge": 33.4,
    "HouseholdSize": 2.18,
    "FacilityName": "SALT LAKE CITY",
}
SELECTION = {
    "SelectionID": "2f5e3a0e-6f6c-4c37-8d0b-7a0d4f3f9b11",
    "Created": "2026-10-01T09:30:00Z",
    "ExpiresAt": "2026-12-30T09:30:00Z",
    "Vintage": "2026-10",
    "ResidentialCount": 612,
    "BusinessCount": 148,
    "TotalCount": 760,
    "Pieces": 612,
    "BoundingBox": [-111.9101, 40.7502, -111.8903, 40.7664],
    "Routes": [ROUTE],
}
SELECTION_EXAMPLES = [
    OpenApiExample(
        "Around a shop",
        value={
            "Center": {"Latitude": 40.7608, "Longitude": -111.891},
            "RadiusMiles": 2,
            "ResidentialOnly": True,
            "MedianIncome": {"Min": 50000},
            "MaxPieces": 5000,
        },
        request_only=True,
    ),
    OpenApiExample("A selection", value=SELECTION, response_only=True, status_codes=["200", "201"]),
]
GEOJSON_EXAMPLE = OpenApiExample(
    "For a map",
    value={
        "type": "FeatureCollection",
        "bbox": SELECTION["BoundingBox"],
        **{name: value for name, value in SELECTION.items() if name not in {"BoundingBox", "Routes"}},
        "IsSynthetic": False,
        "features": [
            {
                "type": "Feature",
                "id": "84101C001",
                "geometry": {
                    "type": "LineString",
                    "coordinates": [[-111.9101, 40.7502], [-111.8903, 40.7664]],
                },
                "properties": ROUTE,
            }
        ],
    },
    media_type="application/geo+json",
    response_only=True,
    status_codes=["200"],
)
