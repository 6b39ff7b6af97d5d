"""The stored JSON bodies of stores and products; stores.catalog.api.serializers describes the same shapes.

By hand: serializers are too slow for lists. tests/support/catalog/renderings.py compares both after every write.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from django.conf import settings

from fulfillment.core.text import JsonObject, timestamp
from stores.catalog.models import BudgetDuration, BudgetType, Store, TemplateFieldSubType
from stores.catalog.models.product import takes_artwork
from stores.catalog.records.field_specs import PRODUCT_FIELDS, STORE_FIELDS, FieldSpec, store_record


def render_store(store: Store) -> tuple[str, str]:
    """The plain body and the verbose body."""
    computed = {
        "ProductCount": store.product_count,
        "Created": timestamp(store.created),
        "Updated": timestamp(store.updated),
    }
    return _render_bodies(STORE_FIELDS, store_record(store), computed)


def render_product(
    record: JsonObject, *, currency: str, created: datetime, updated: datetime
) -> tuple[str, str]:
    """The plain body and the verbose body."""
    product_created = timestamp(created)
    computed = {
        "TakesArtwork": takes_artwork(record["PageCount"]),
        "HasTemplate": bool(record["TemplateFields"]),
        "ShippingMethod": record["DeliveryMethod"],
        "TemplateFields": [_template_field(field, record["Template"]) for field in record["TemplateFields"]],
        "DeliveredPrices": [_delivered_price(price, product_created) for price in record["DeliveredPrices"]],
        "ProductionSpeeds": [
            {"Days": speed["Days"], "IsDefault": speed["IsDefault"]} for speed in record["ProductionSpeeds"]
        ],
        "Currency": currency,
        "Created": product_created,
        "Updated": timestamp(updated),
    }
    return _render_bodies(PRODUCT_FIELDS, record, computed)


def options(choices: type[BudgetType] | type[BudgetDuration], values: Sequence[str]) -> list[dict[str, str]]:
    return [{"Value": value, "Description": str(choices(value).label)} for value in values]


def image_url(address: str) -> str:
    """Completes a path with PUBLIC_URL; after a change of PUBLIC_URL, `refresh_renderings` must run."""
    return settings.PUBLIC_URL + address if address.startswith("/") else address


def field_choices(sub_type: str, choices: Sequence[str], template: JsonObject | None) -> list[str]:
    """The allowed values of a list or gallery field; the names of a gallery are in the template."""
    if sub_type == TemplateFieldSubType.GALLERY:
        return sorted((template or {}).get("Gallery") or ())
    return list(choices)


def _template_field(field: JsonObject, template: JsonObject | None) -> JsonObject:
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


def _delivered_price(price: JsonObject, product_created: str) -> JsonObject:
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


# Other types are the same in JSON.
TO_JSON: dict[str, Callable[[Any], Any]] = {
    "number": float,
    "optional_number": lambda value: None if value is None else float(value),
    "image_url": image_url,
    "budget_types": partial(options, BudgetType),
    "budget_durations": partial(options, BudgetDuration),
}


def _render_bodies(specs: tuple[FieldSpec, ...], record: JsonObject, computed: JsonObject) -> tuple[str, str]:
    plain: JsonObject = {}
    extra: JsonObject = {}
    for spec in specs:
        if not spec.type:
            continue
        if spec.type == "computed":
            value = computed[spec.name]
        else:
            value = record[spec.name]
            if spec.type in TO_JSON:
                value = TO_JSON[spec.type](value)
        (extra if spec.verbose else plain)[spec.name] = value
    body = orjson.dumps(plain).decode()
    return body, f"{body[:-1]},{orjson.dumps(extra).decode()[1:]}"
