"""Examples of stores, products and roles for the API reference."""

from typing import Any

from drf_spectacular.utils import OpenApiExample

from accounts.api.users import USER_ID
from stores.catalog.records.field_specs import PRODUCT_FIELDS, STORE_FIELDS, FieldSpec
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
    "UserID": USER_ID,
    "Grant": "Store.All.Read",
    "_meta": {"Messages": []},
}
ROLE_EXAMPLE = OpenApiExample(
    "Store user role", value=ROLE, response_only=True, media_type="application/json"
)


def _make_example(specs: tuple[FieldSpec, ...], computed: dict[str, Any], *, verbose: bool) -> dict[str, Any]:
    shown = [spec for spec in specs if spec.type and (verbose or not spec.verbose)]
    return {
        spec.name: computed[spec.name]
        if spec.type == "computed"
        else TO_JSON.get(spec.type, lambda value: value)(spec.example)
        for spec in shown
    }


STORE = _make_example(STORE_FIELDS, OF_STORE, verbose=False)
VERBOSE_STORE = _make_example(STORE_FIELDS, OF_STORE, verbose=True)
PRODUCT = _make_example(PRODUCT_FIELDS, OF_PRODUCT, verbose=False)
VERBOSE_PRODUCT = _make_example(PRODUCT_FIELDS, OF_PRODUCT, verbose=True)

STORE_EXAMPLE = OpenApiExample("Store", value=STORE, response_only=True)
STORE_EXAMPLES = [STORE_EXAMPLE, OpenApiExample("Verbose store", value=VERBOSE_STORE, response_only=True)]
PRODUCT_EXAMPLES = [
    OpenApiExample("Product", value=PRODUCT, response_only=True),
    OpenApiExample("Verbose product", value=VERBOSE_PRODUCT, response_only=True),
]
