"""Stores and products as catalog records, read in bulk for the export and for comparison before a write."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import orjson
from django.db import connection

from fulfillment.core.errors import Fault, Invalid
from stores.catalog.models import Store
from stores.catalog.records import DELIVERED_PRICE, PRODUCT, STORE, TEMPLATE_FIELD
from stores.templates.records import Record

BATCH = 500

# A price's Created is left out where it equals the product's, so that an imported file is exported unchanged.
STORED_PRODUCTS = """
SELECT product.id, product.store_id, product.position, product.version, product.created, product.updated,
    (SELECT coalesce(json_agg(json_build_array(field_name, prompt, type, sub_type, required, default_value,
            org_value, to_json(choices)) ORDER BY position), '[]')::text
     FROM stores_templatefield WHERE product_id = product.id),
    (SELECT coalesce(json_agg(json_build_array(delivery_method_code, description, price::text, country,
            country_code, location_type, is_default, CASE WHEN child.created <> product.created THEN
            to_char(child.created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US+00:00') END)
            ORDER BY position), '[]')::text
     FROM stores_deliveredprice child WHERE product_id = product.id),
    (SELECT coalesce(json_agg(json_build_array(days, is_default) ORDER BY position), '[]')::text
     FROM stores_productionspeed WHERE product_id = product.id),
    {columns}
FROM stores_product product
WHERE {condition}
ORDER BY product.store_id, product.position, product.id
"""
FIELD_NAMES = [member.name for member in TEMPLATE_FIELD]
PRICE_NAMES = [member.name for member in DELIVERED_PRICE]
COLUMNS = ", ".join(f"product.{member.column}" for member in PRODUCT)


class StoredProduct(NamedTuple):
    pk: int
    store_id: int
    position: int
    version: int
    created: datetime
    updated: datetime
    record: Record


def stored_products(*, store_ids: Sequence[int]) -> Iterator[StoredProduct]:
    """In catalog order. Uses a server-side cursor, so call it inside a transaction."""
    statement = STORED_PRODUCTS.format(columns=COLUMNS, condition="product.store_id = ANY(%s)")
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, [list(store_ids)])
        while rows := cursor.fetchmany(BATCH):
            yield from map(_stored_product, rows)


def stored_products_by_id(store_id: int, product_ids: Sequence[str]) -> dict[str, StoredProduct]:
    """The existing products of a store among these IDs, by ID."""
    condition = "product.store_id = %s AND product.external_id = ANY(%s)"
    with connection.cursor() as cursor:
        cursor.execute(
            STORED_PRODUCTS.format(columns=COLUMNS, condition=condition), [store_id, list(product_ids)]
        )
        products = map(_stored_product, cursor.fetchall())
        return {product.record["ID"]: product for product in products}


def stored_product(product_id: int) -> StoredProduct:
    with connection.cursor() as cursor:
        cursor.execute(STORED_PRODUCTS.format(columns=COLUMNS, condition="product.id = %s"), [product_id])
        return _stored_product(cursor.fetchone())


def store_record(store: Store) -> Record:
    return {member.name: getattr(store, member.column) for member in STORE}


def find_stores(store_ids: Sequence[str]) -> list[Store]:
    """These stores, or all if none are named, in the order of their creation."""
    stores = Store.objects.order_by("pk")
    if not store_ids:
        return list(stores)
    found = list(stores.filter(external_id__in=store_ids))
    unknown = sorted(set(store_ids) - {store.external_id for store in found})
    if unknown:
        faults = [Fault("", "store_invalid", f"There is no store {name!r}.") for name in unknown]
        raise Invalid(" ".join(fault.message for fault in faults), code="store_invalid", faults=faults)
    return found


def catalog_of(store_ids: Sequence[str]) -> Iterator[tuple[Record, Iterator[Record]]]:
    """Each store with its products, including archived ones; call it inside a transaction."""
    for store in find_stores(store_ids):
        yield store_record(store), (product.record for product in stored_products(store_ids=[store.pk]))


def _stored_product(row: Sequence[Any]) -> StoredProduct:
    fields, prices, speeds = (orjson.loads(text) for text in row[6:9])
    record: Record = {member.name: value for member, value in zip(PRODUCT, row[9:], strict=True)}
    template = record["Template"]
    record["Template"] = orjson.loads(template) if isinstance(template, str) else template
    record["TemplateFields"] = [dict(zip(FIELD_NAMES, field, strict=True)) for field in fields]
    record["DeliveredPrices"] = [_price(price) for price in prices]
    record["ProductionSpeeds"] = [{"Days": days, "IsDefault": default} for days, default in speeds]
    return StoredProduct._make((*row[:6], record))


def _price(values: Sequence[Any]) -> Record:
    price = dict(zip(PRICE_NAMES, values, strict=True))
    price["Price"] = Decimal(price["Price"])
    if price["Created"]:
        price["Created"] = datetime.fromisoformat(price["Created"])
    return price
