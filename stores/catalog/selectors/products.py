"""Products as stored renderings and as catalog records in bulk, and the users of a store."""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.models import Role
from accounts.permissions import Permission
from accounts.selectors.grants import grants_on_store
from accounts.selectors.users import user_by_id
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import Fault, Forbidden, Invalid, NotFound
from fulfillment.core.text import JsonObject, parse_uuid
from stores.catalog.models import Store
from stores.catalog.records.field_specs import (
    DELIVERED_PRICE_FIELDS,
    STORED_PRODUCT_FIELDS,
    TEMPLATE_FIELD_FIELDS,
    store_record,
)
from stores.catalog.selectors.stores import CALLER, RENDERINGS, VISIBLE, StoredBody, unknown_store, visibility

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
FIELD_NAMES = [spec.name for spec in TEMPLATE_FIELD_FIELDS]
PRICE_NAMES = [spec.name for spec in DELIVERED_PRICE_FIELDS]
COLUMNS = ", ".join(f"product.{spec.column}" for spec in STORED_PRODUCT_FIELDS)
# The bodies are read only for a caller that has access and no current copy, and only up to a maximum of bytes:
# PostgreSQL knows the length of a stored text without reading it.
PRODUCT_LIST = """{caller}
SELECT access.is_visible, version.tag, CASE WHEN access.is_visible AND NOT version.tag = ANY(caller.client_tags) AND (
    SELECT coalesce(sum(octet_length(product.{rendering})), 0) <= %s::bigint
    FROM stores_product product
    WHERE product.store_id = store.id AND product.is_active
) THEN (
    SELECT convert_to(
        '[' || coalesce(string_agg(product.{rendering}, ',' ORDER BY product.position, product.id), '') || ']',
        'UTF8'
    )
    FROM stores_product product
    WHERE product.store_id = store.id AND product.is_active
) END
FROM stores_store store, caller,
     LATERAL (SELECT {visible} AS is_visible) access,
     LATERAL (
         SELECT md5(concat_ws('/', store.id, store.created, store.catalog_version, '{rendering}')) AS tag
     ) version
WHERE store.external_id = %s
"""
PRODUCT_DETAIL = """{caller}
SELECT access.is_visible, md5(product.{rendering}),
       CASE WHEN access.is_visible AND NOT md5(product.{rendering}) = ANY(caller.client_tags)
                AND octet_length(product.{rendering}) <= %s::bigint
            THEN convert_to(product.{rendering}, 'UTF8') END
FROM caller, stores_store store
     CROSS JOIN LATERAL (SELECT {visible} AS is_visible) access
     LEFT JOIN stores_product product
        ON product.store_id = store.id AND product.external_id = %s AND product.is_active
WHERE store.external_id = %s
"""
PRODUCT_LISTS = {
    verbose: PRODUCT_LIST.format(caller=CALLER, visible=VISIBLE, rendering=name)
    for verbose, name in RENDERINGS.items()
}
PRODUCT_DETAILS = {
    verbose: PRODUCT_DETAIL.format(caller=CALLER, visible=VISIBLE, rendering=name)
    for verbose, name in RENDERINGS.items()
}


class StoredProduct(NamedTuple):
    pk: int
    store_id: int
    position: int
    version: int
    created: datetime
    updated: datetime
    record: JsonObject


def stored_products(*, store_ids: Sequence[int]) -> Iterator[StoredProduct]:
    """Products in catalog order. Uses a server-side cursor, so call it inside a transaction."""
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


def find_stores(store_ids: Sequence[str]) -> list[Store]:
    """These stores, or all if none are named, in the order of their creation."""
    stores = Store.objects.order_by("pk")
    if not store_ids:
        return list(stores)
    named_stores = list(stores.filter(external_id__in=store_ids))
    unknown = sorted(set(store_ids) - {store.external_id for store in named_stores})
    if unknown:
        faults = [
            Fault("", "store_invalid", _("There is no store %(name)r.") % {"name": name}) for name in unknown
        ]
        raise Invalid(" ".join(fault.message for fault in faults), code="store_invalid", faults=faults)
    return named_stores


def catalog_of(store_ids: Sequence[str]) -> Iterator[tuple[JsonObject, Iterator[JsonObject]]]:
    """Each store with its products, including archived ones; call it inside a transaction."""
    for store in find_stores(store_ids):
        yield store_record(store), (product.record for product in stored_products(store_ids=[store.pk]))


def _stored_product(row: Sequence[Any]) -> StoredProduct:
    specs = STORED_PRODUCT_FIELDS
    *columns, fields, prices, speeds = row[: -len(specs)]
    record: JsonObject = {spec.name: value for spec, value in zip(specs, row[-len(specs) :], strict=True)}
    template = record["Template"]
    record["Template"] = orjson.loads(template) if isinstance(template, str) else template
    record["TemplateFields"] = [dict(zip(FIELD_NAMES, field, strict=True)) for field in orjson.loads(fields)]
    record["DeliveredPrices"] = [_price(price) for price in orjson.loads(prices)]
    record["ProductionSpeeds"] = [
        {"Days": days, "IsDefault": default} for days, default in orjson.loads(speeds)
    ]
    return StoredProduct._make((*columns, record))


def _price(values: Sequence[Any]) -> JsonObject:
    price = dict(zip(PRICE_NAMES, values, strict=True))
    price["Price"] = Decimal(price["Price"])
    if price["Created"]:
        price["Created"] = datetime.fromisoformat(price["Created"])
    return price


def product_list_body(
    caller: Caller, store_id: str, *, verbose: bool, client_tags: Sequence[str] = (), most: int = sys.maxsize
) -> StoredBody:
    """The body, without content also if it has more than `most` bytes."""
    parameters = (*product_visibility(caller, client_tags), most, store_id)
    return StoredBody(*visible_row(fetch_row(PRODUCT_LISTS[verbose], parameters), store_id))


def product_body(
    caller: Caller,
    store_id: str,
    product_id: str,
    *,
    verbose: bool,
    client_tags: Sequence[str] = (),
    most: int = sys.maxsize,
) -> StoredBody:
    parameters = (*product_visibility(caller, client_tags), most, product_id, store_id)
    tag, content = visible_row(fetch_row(PRODUCT_DETAILS[verbose], parameters), store_id)
    if tag is None:
        raise NotFound(no_product(product_id), code="product_not_found")
    return StoredBody(tag, content)


def no_product(product_id: str) -> str:
    return f"There is no product {product_id!r} in this store; GET /store/{{storeID}}/product lists those that exist."


def association_required(store_id: str) -> Forbidden:
    return Forbidden(
        _(
            "There is no association with the store %(store_id)r. Request one with POST "
            '/api/v1/association and {"StoreID": "%(store_id)s"}, or in the directory of stores of '
            "the portal; the store decides."
        )
        % {"store_id": store_id},
        code="association_required",
    )


def store_refusal(caller: Caller, store: Store, permissions: Sequence[str]) -> Forbidden:
    """Why a caller without any of `permissions` is refused: no association at all, or one without the grant."""
    related = Q(application=caller.application_id, user__isnull=True, application__isnull=False)
    if caller.user_id is not None and caller.third_party_id is None:
        related = Q(user=caller.user_id)
    if not store.is_demo and not Role.objects.filter(related, store=store).exists():
        return association_required(store.external_id)
    required = " or ".join(permissions)
    return Forbidden(
        _("This requires the grant %(required)s on the store, and the scope of the same name.")
        % {"required": required},
        code="grant_missing",
    )


def visible_row(row: tuple[Any, ...] | None, store_id: str) -> tuple[Any, ...]:
    """The row without its first column, which says whether the caller may see the store's products.

    Raises Invalid for an unknown store, and Forbidden for an invisible one.
    """
    if row is None:
        raise unknown_store(store_id)
    if not row[0]:
        raise association_required(store_id)
    return row[1:]


def product_visibility(caller: Caller, client_tags: Sequence[str] = ()) -> tuple[Any, ...]:
    """The access to products through a third-party application depends on its association alone, not on the user."""
    sees_all, user_id, application_id, *parameters = visibility(caller, client_tags)
    return sees_all, None if application_id is not None else user_id, application_id, *parameters


def store_user_roles(caller: Caller, store_id: str, user_id: str) -> list[Role]:
    """The roles of a user on a store; with `Store.Self.Read`, and on the demo store, only the caller's own."""
    store = Store.objects.filter(external_id=store_id).only("external_id", "is_demo").first()
    if store is None:
        raise unknown_store(store_id)
    is_self = caller.user_id is not None and parse_uuid(user_id) == caller.user_id
    _check_grants(caller, store, is_self=is_self)
    user = user_by_id(user_id)
    if store.is_demo and user.pk != caller.user_id:
        return []
    return list(Role.objects.filter(user=user, store=store).order_by("pk"))


def _check_grants(caller: Caller, store: Store, *, is_self: bool) -> None:
    granted = grants_on_store(caller, store)
    if Permission.STORE_ALL_READ in granted:
        return
    if Permission.STORE_SELF_READ not in granted:
        if Role.objects.filter(user=caller.user_id, store=store).exists():
            raise Forbidden(
                _("This requires the grant Store.Self.Read or Store.All.Read on the store, and its scope."),
                code="grant_missing",
            )
        raise association_required(store.external_id)
    if not is_self and not store.is_demo:
        raise Forbidden(
            _(
                "With Store.Self.Read you can read only your own roles; the roles of others require Store.All.Read."
            ),
            code="grant_missing",
        )
