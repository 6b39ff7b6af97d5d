import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import stores
from fulfillment.core.text import JsonObject
from printing.typesetting import load_sample, load_template_folder
from stores.catalog.models import Product, Store
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.products import save_product

DESIGNS = Path(stores.__file__).parent / "demo" / "templates"
# Designs that this process has saved: checking a template renders it, for a copy it is not done again.
_CHECKED: dict[str, JsonObject] = {}
RECIPIENT = {
    "Name": "Dana Whitfield",
    "Company": "Acme Realty",
    "Address1": "1200 17th Street",
    "City": "Denver",
    "State": "CO",
    "PostalCode": "80202",
    "CountryCode": "US",
}


def product_values(product_id: str = "card", **changes: Any) -> dict[str, Any]:
    """A product that is delivered in the United States by ground or overnight, made in 3 days or 1.

    One for EDDM has the size of a flat.
    """
    is_flat = changes.get("IsEddm", False)
    return {
        "ID": product_id,
        "APIKey": product_id.upper(),
        "Name": f"Product {product_id}",
        "DefaultQty": 100,
        "MinimumQty": 100,
        "MaximumQty": 1000,
        "IncrementQty": 50,
        "DeliveryMethod": "GROUND",
        "PageCount": 1,
        "WidthMM": Decimal("228.6" if is_flat else "88.9"),
        "HeightMM": Decimal("165.1" if is_flat else "50.8"),
        "TemplateFields": [],
        "DeliveredPrices": [
            price_values("GROUND", "0.12", description="Ground, 3\u20135 business days", is_default=True),
            price_values("GROUND", "0.13", location_type="Residential"),
            price_values("OVERNIGHT", "0.17", description="Overnight, next business day"),
        ],
        "ProductionSpeeds": [{"Days": 3, "IsDefault": True}, {"Days": 1, "IsDefault": False}],
        **changes,
    }


def price_values(
    method: str,
    price: str,
    *,
    country_code: str = "US",
    location_type: str = "Commercial",
    description: str = "",
    is_default: bool = False,
) -> dict[str, Any]:
    return {
        "DeliveryMethodCode": method,
        "Description": description,
        "Price": Decimal(price),
        "Country": country_code,
        "CountryCode": country_code,
        "LocationType": location_type,
        "IsDefault": is_default,
    }


def make_product(store: Store, product_id: str = "card", **changes: Any) -> Product:
    return save_product(store=store, values=product_values(product_id, **changes))


def make_card(store: Store, product_id: str = "card-two-sided") -> Product:
    """A two-sided business card with the template of the demo."""
    return make_design(store, "business-card-standard", product_id)


def make_design(store: Store, design: str, product_id: str = "", **changes: Any) -> Product:
    """A product with a template of the demo, by the name of its folder."""
    folder = DESIGNS / design
    fields = json.loads((folder / "fields.json").read_text("utf-8"))
    template = load_template_folder(folder)
    values = product_values(
        product_id or design, TemplateFields=fields, Template=template, **print_size(template), **changes
    )
    product = save_product(store=store, values=values, copy_of=_CHECKED.get(design))
    if design not in _CHECKED:
        _CHECKED[design] = stored_product(product.pk).record
    return product


def print_size(template: dict[str, Any]) -> dict[str, Any]:
    """Size and pages of a product with this template."""
    first = template["Pages"][0]
    size = {name: Decimal(str(first[name])) for name in ("WidthMM", "HeightMM")}
    return {"PageCount": len(template["Pages"]), **size}


def card_data() -> dict[str, str]:
    return design_data("business-card-standard")


def design_data(design: str) -> dict[str, str]:
    return load_sample(DESIGNS / design)


def order_body(*items: tuple[str, int], **changes: Any) -> dict[str, Any]:
    lines = [{"ProductID": product_id, "Quantity": quantity} for product_id, quantity in items]
    return {"Recipient": RECIPIENT, "Items": lines or [{"ProductID": "card", "Quantity": 100}], **changes}
