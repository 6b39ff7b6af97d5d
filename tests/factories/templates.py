from decimal import Decimal
from typing import Any

import orjson
from django.conf import settings

from printing.typesetting import load_template_folder
from stores.catalog.models import Product, Store
from stores.catalog.services.products import save_product
from tests.factories.orders import print_size

TEMPLATES = settings.BASE_DIR / "stores" / "demo" / "templates"
QUANTITIES = {"DefaultQty": 100, "MinimumQty": 100, "MaximumQty": 1000, "IncrementQty": 100}
SIZE = {"WidthMM": Decimal("88.9"), "HeightMM": Decimal("50.8"), "DeliveryMethod": "GROUND"}


def field(name: str, **changes: Any) -> dict[str, Any]:
    return {"FieldName": name, "Prompt": name, "Type": "Text", "SubType": "SingleLine", **changes}


def text_box(name: str, **changes: Any) -> dict[str, Any]:
    place = {"X": 5, "Y": 5, "Width": 60, "Height": 8}
    return {"Field": name, "Kind": "Text", "Size": 12, **place, **changes}


def page(*boxes: dict[str, Any]) -> dict[str, Any]:
    return {"WidthMM": 88.9, "HeightMM": 50.8, "BleedMM": 3, "Boxes": list(boxes)}


def make_card(store: Store, product_id: str = "card", **changes: Any) -> Product:
    """Without more a one-page card with one required line."""
    values = {
        "ID": product_id,
        "Name": "Card",
        **QUANTITIES,
        **SIZE,
        "TemplateFields": [field("Name", Required=True)],
        "Template": {"Pages": [page(text_box("Name"))]},
    }
    return save_product(store=store, values={**values, **changes})


def make_demo_product(store: Store, name: str) -> Product:
    """One of the designed templates of the demo."""
    folder = TEMPLATES / name
    fields = orjson.loads((folder / "fields.json").read_bytes())
    template = load_template_folder(folder)
    return make_card(store, name, TemplateFields=fields, Template=template, **print_size(template))
