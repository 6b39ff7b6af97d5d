"""Stores and products as any writer makes them: through the services, with their stored renderings."""

import itertools
from decimal import Decimal
from typing import Any

from stores.catalog.models import Product, Store
from stores.catalog.services.products import save_product
from stores.catalog.services.stores import save_store

_numbers = itertools.count(1)


def store_values(**values: Any) -> dict[str, Any]:
    number = next(_numbers)
    return {"StoreID": f"store-{number}", "CompanyName": f"Store {number}", **values}


def make_store(**values: Any) -> Store:
    return save_store(values=store_values(**values)).store


def product_values(**values: Any) -> dict[str, Any]:
    number = next(_numbers)
    return {
        "ID": f"product-{number}",
        "APIKey": f"PR-{number}",
        "Name": f"Product {number}",
        "Description": "Full color – “both sides”",
        "Category": "Postcards",
        "ImageURL": "/static/catalog/postcard.svg",
        "DefaultQty": 500,
        "MinimumQty": 100,
        "MaximumQty": 10_000,
        "IncrementQty": 100,
        "DeliveryMethod": "GROUND",
        "PageCount": 2,
        "WidthMM": Decimal("152.4"),
        "HeightMM": Decimal("101.6"),
        "TemplateFields": [field_values()],
        "DeliveredPrices": [price_values(IsDefault=True), price_values(LocationType="Residential")],
        "ProductionSpeeds": [{"Days": 3, "IsDefault": True}, {"Days": 1}],
        **values,
    }


def field_values(**values: Any) -> dict[str, Any]:
    return {"FieldName": "Headline", "Prompt": "Headline", "Type": "Text", "SubType": "SingleLine", **values}


def price_values(**values: Any) -> dict[str, Any]:
    return {
        "DeliveryMethodCode": "GROUND",
        "Description": "Ground",
        "Price": Decimal("0.12"),
        "Country": "United States",
        "CountryCode": "US",
        "LocationType": "Commercial",
        **values,
    }


def make_product(store: Store, **values: Any) -> Product:
    return save_product(store=store, values=product_values(**values))
