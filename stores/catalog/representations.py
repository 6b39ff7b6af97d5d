"""The stored JSON bodies of stores and products; stores.catalog.api.serializers describes the same shapes.

By hand: serializers are too slow for lists. tests/support/fresh.py compares both after every way of writing.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings

from fulfillment.core.api.serializers import timestamp
from stores.catalog.models import BudgetDuration, BudgetType, TemplateFieldSubType

Record = dict[str, Any]


def render_store(
    record: Record, *, product_count: int, created: datetime, updated: datetime
) -> tuple[str, str]:
    """The plain body and the verbose body."""
    plain = {
        "StoreID": record["StoreID"],
        "BudgetEnabled": record["BudgetEnabled"],
        "BudgetTypes": options(BudgetType, record["BudgetTypes"]),
        "BudgetDuration": options(BudgetDuration, record["BudgetDuration"]),
        "CompanyName": record["CompanyName"],
    }
    extra = {
        "Description": record["Description"],
        "Currency": record["Currency"],
        "TimeZone": record["TimeZone"],
        "IsDemo": record["IsDemo"],
        "ProductCount": product_count,
        "Created": timestamp(created),
        "Updated": timestamp(updated),
    }
    return _bodies(plain, extra)


def render_product(record: Record, *, currency: str, created: datetime, updated: datetime) -> tuple[str, str]:
    """The plain body and the verbose body."""
    product_created = timestamp(created)
    plain = {
        "ID": record["ID"],
        "APIKey": record["APIKey"],
        "DefaultQty": record["DefaultQty"],
        "MinimumQty": record["MinimumQty"],
        "MaximumQty": record["MaximumQty"],
        "IncrementQty": record["IncrementQty"],
        "Name": record["Name"],
        "Description": record["Description"],
        "ImageURL": image_url(record["ImageURL"]),
        "HasTemplate": bool(record["TemplateFields"]),
        "DeliveryMethod": record["DeliveryMethod"],
        "ShippingMethod": record["DeliveryMethod"],
        "TemplateFields": [_template_field(field, record["Template"]) for field in record["TemplateFields"]],
        "DeliveredPrices": [_delivered_price(price, product_created) for price in record["DeliveredPrices"]],
        "ProductionSpeeds": [
            {"Days": speed["Days"], "IsDefault": speed["IsDefault"]} for speed in record["ProductionSpeeds"]
        ],
    }
    extra = {
        "Category": record["Category"],
        "Currency": currency,
        "PageCount": record["PageCount"],
        "WidthMM": float(record["WidthMM"]),
        "HeightMM": float(record["HeightMM"]),
        "IsEddm": record["IsEddm"],
        "Created": product_created,
        "Updated": timestamp(updated),
    }
    return _bodies(plain, extra)


def options(choices: type[BudgetType] | type[BudgetDuration], values: Sequence[str]) -> list[dict[str, str]]:
    return [{"Value": value, "Description": str(choices(value).label)} for value in values]


def image_url(address: str) -> str:
    """Completes a path with PUBLIC_URL; after a change of PUBLIC_URL, `refresh_renderings` must run."""
    return settings.PUBLIC_URL + address if address.startswith("/") else address


def field_choices(sub_type: str, choices: Sequence[str], template: Record | None) -> list[str]:
    """The allowed values of a list or gallery field; the names of a gallery are in the template."""
    if sub_type == TemplateFieldSubType.GALLERY:
        return sorted((template or {}).get("Gallery") or ())
    return list(choices)


def _template_field(field: Record, template: Record | None) -> Record:
    return {
        "Required": field["Required"],
        "Type": field["Type"],
        "SubType": field["SubType"],
        "FieldName": field["FieldName"],
        "Prompt": field["Prompt"],
        "DefaultValue": field["DefaultValue"],
        "OrgValue": field["OrgValue"],
        "Choices": field_choices(field["SubType"], field["Choices"], template),
    }


def _delivered_price(price: Record, product_created: str) -> Record:
    return {
        "DeliveryMethodCode": price["DeliveryMethodCode"],
        "Description": price["Description"],
        "Price": float(price["Price"]),
        "Country": price["Country"],
        "CountryCode": price["CountryCode"],
        "Created": timestamp(price["Created"]) if price["Created"] else product_created,
        "LocationType": price["LocationType"],
        "IsDefault": price["IsDefault"],
    }


def _bodies(plain: Record, extra: Record) -> tuple[str, str]:
    body = orjson.dumps(plain).decode()
    return body, f"{body[:-1]},{orjson.dumps(extra).decode()[1:]}"
