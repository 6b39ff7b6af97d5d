"""The demo catalog: three stores as data files of this package, with designed templates for some products."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

from stores.catalog.models import Store
from stores.catalog.services.imports import ImportSummary, import_catalog
from stores.typesetting import load_template_folder

FOLDER = Path(__file__).resolve().parent


def load_demo_catalog() -> ImportSummary | None:
    """Imports the demo stores if one of them is missing; None where all are there and stay as they are."""
    catalog = demo_catalog()
    ids = [store["StoreID"] for store in catalog["Stores"]]
    if Store.objects.filter(external_id__in=ids).count() == len(ids):
        return None
    return import_catalog(source=BytesIO(json.dumps(catalog).encode()))


def demo_catalog() -> dict[str, Any]:
    """The catalog file with the templates and their fields filled in."""
    catalog: dict[str, Any] = json.loads((FOLDER / "catalog.json").read_text("utf-8"))
    for store in catalog["Stores"]:
        for product in store["Products"]:
            folder = FOLDER / "templates" / product["ID"]
            if folder.is_dir():
                _add_template(product, folder)
    return catalog


def _add_template(product: dict[str, Any], folder: Path) -> None:
    template = load_template_folder(folder)
    product["Template"] = template
    product["PageCount"] = len(template["Pages"])
    fields = json.loads((folder / "fields.json").read_text("utf-8"))
    product["TemplateFields"] = [{"Choices": [], **field} for field in fields]
