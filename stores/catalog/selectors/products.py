"""The products of a store as stored renderings: one prepared statement checks access and returns the body."""

from collections.abc import Sequence
from typing import Any

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import Forbidden, NotFound
from stores.catalog.selectors.stores import CALLER, RENDERINGS, VISIBLE, StoredBody, unknown_store, visibility

# The bodies are read only for a caller that has access and no current copy.
PRODUCT_LIST = """{caller}
SELECT access.is_visible, version.tag, CASE WHEN access.is_visible AND NOT version.tag = ANY(caller.client_tags) THEN (
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


def product_list_body(
    caller: Caller, store_id: str, *, verbose: bool, client_tags: Sequence[str] = ()
) -> StoredBody:
    parameters = (*product_visibility(caller, client_tags), store_id)
    return StoredBody(*_visible_row(fetch_row(PRODUCT_LISTS[verbose], parameters), store_id))


def product_body(
    caller: Caller, store_id: str, product_id: str, *, verbose: bool, client_tags: Sequence[str] = ()
) -> StoredBody:
    parameters = (*product_visibility(caller, client_tags), product_id, store_id)
    tag, content = _visible_row(fetch_row(PRODUCT_DETAILS[verbose], parameters), store_id)
    if tag is None:
        raise NotFound(no_product(product_id), code="product_not_found")
    return StoredBody(tag, content)


def no_product(product_id: str) -> str:
    return f"There is no product {product_id!r} in this store; GET /store/{{storeID}}/product lists those that exist."


def association_required(store_id: str) -> Forbidden:
    return Forbidden(
        f"There is no association with the store {store_id!r}. Request one with POST /api/v1/association "
        f'and {{"StoreID": "{store_id}"}}, or in the directory of stores of the portal; the store '
        "decides.",
        code="association_required",
    )


def _visible_row(row: tuple[Any, ...] | None, store_id: str) -> tuple[Any, Any]:
    if row is None:
        raise unknown_store(store_id)
    is_visible, tag, content = row
    if not is_visible:
        raise association_required(store_id)
    return tag, content


def product_visibility(caller: Caller, client_tags: Sequence[str] = ()) -> tuple[Any, ...]:
    """The access to products through a third-party application depends on its association alone, not on the user."""
    sees_all, user_id, application_id, *rest = visibility(caller, client_tags)
    return sees_all, None if application_id is not None else user_id, application_id, *rest
