"""Writes a catalog file piece by piece; equal records always give the same file."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import orjson

from fulfillment.core.text import JsonObject, timestamp
from stores.catalog.catalog_file.reader import FORMAT, VERSION
from stores.catalog.records.field_specs import STORED_PRODUCT_FIELDS, STORED_STORE_FIELDS, FieldSpec

INDENTATION = re.compile(rb"\n +")
STORE_DEPTH, PRODUCT_DEPTH = 2, 4


def write_catalog(stores: Iterable[tuple[JsonObject, Iterable[JsonObject]]]) -> Iterator[bytes]:
    """One object indented by one space for each level, so that a changed value changes one line."""
    yield b'{\n "Format": "%s",\n "Version": %d,\n "Stores": [' % (FORMAT.encode(), VERSION)
    separator = b""
    for store, products in stores:
        yield (
            separator
            + b"\n  "
            + _indented_json(_shown_fields(store, STORED_STORE_FIELDS), STORE_DEPTH)[:-4]
            + b',\n   "Products": ['
        )
        separator = b","
        between = b"\n    "
        for product in products:
            yield between + _indented_json(_product_record(product), PRODUCT_DEPTH)
            between = b",\n    "
        yield (b"]" if between == b"\n    " else b"\n   ]") + b"\n  }"
    yield (b"\n ]" if separator else b"]") + b"\n}\n"


def _shown_fields(record: JsonObject, specs: Iterable[FieldSpec]) -> dict[str, Any]:
    return {
        spec.name: record[spec.name]
        for spec in specs
        if not spec.omitted_at_default or record[spec.name] != spec.default
    }


def _product_record(record: JsonObject) -> dict[str, Any]:
    shown = _shown_fields(record, STORED_PRODUCT_FIELDS[:-1])
    shown["TemplateFields"] = record["TemplateFields"]
    shown["DeliveredPrices"] = [_price_record(price) for price in record["DeliveredPrices"]]
    shown["ProductionSpeeds"] = record["ProductionSpeeds"]
    if record["Template"] is not None:
        shown["Template"] = record["Template"]
    return shown


def _price_record(price: JsonObject) -> dict[str, Any]:
    shown = dict(price)
    created = shown.pop("Created")
    if created is not None:
        shown["Created"] = timestamp(created)
    return shown


def _indented_json(value: dict[str, Any], depth: int) -> bytes:
    """orjson indents by two spaces; line breaks inside strings are escaped, so all others are indentation."""
    text = orjson.dumps(value, default=_write_number, option=orjson.OPT_INDENT_2)
    return (
        INDENTATION.sub(lambda match: b"\n" + b" " * (depth + (len(match[0]) - 1) // 2), text[:-1])
        + b" " * depth
        + b"}"
    )


def _write_number(value: object) -> int | float:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{type(value).__name__} cannot be written")
