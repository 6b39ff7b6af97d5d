"""The products of a store as stored renderings: one prepared statement from the check to the body."""

from collections.abc import Sequence
from typing import Any

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import Forbidden, NotFound
from stores.catalog.selectors.stores import ASKED, RENDERINGS, VISIBLE, StoredBody, unknown_store, visibility

# The bodies are read only for a caller that may have them and does not hold them.
PRODUCT_LIST = """{asked}
SELECT opened.yes, version.tag, CASE WHEN opened.yes AND NOT version.tag = ANY(asked.known_tags) THEN (
    SELECT convert_to(
        '[' || coalesce(string_agg(product.{rendering}, ',' ORDER BY product.position, product.id), '') || ']',
        'UTF8'
    )
    FROM stores_product product
    WHERE product.store_id = store.id AND product.is_active
) END
FROM stores_store store, asked,
     LATERAL (SELECT {visible} AS yes) opened,
     LATERAL (
         SELECT md5(concat_ws('/', store.id, store.created, store.catalog_version, '{rendering}')) AS tag
     ) version
WHERE store.external_id = %s
"""
PRODUCT_DETAIL = """{asked}
SELECT opened.yes, md5(product.{rendering}),
       CASE WHEN opened.yes AND NOT md5(product.{rendering}) = ANY(asked.known_tags)
            THEN convert_to(product.{rendering}, 'UTF8') END
FROM asked, stores_store store
     CROSS JOIN LATERAL (SELECT {visible} AS yes) opened
     LEFT JOIN stores_product product
        ON product.store_id = store.id AND product.external_id = %s AND product.is_active
WHERE store.external_id = %s
"""
PRODUCT_LISTS = {
    verbose: PRODUCT_LIST.format(asked=ASKED, visible=VISIBLE, rendering=name)
    for verbose, name in RENDERINGS.items()
}
PRODUCT_DETAILS = {
    verbose: PRODUCT_DETAIL.format(asked=ASKED, visible=VISIBLE, rendering=name)
    for verbose, name in RENDERINGS.items()
}


def product_list_body(
    caller: Caller, store_id: str, *, verbose: bool, known_tags: Sequence[str] = ()
) -> StoredBody:
    row = fetch_row(PRODUCT_LISTS[verbose], (*product_visibility(caller, known_tags), store_id))
    return StoredBody(*_opened(row, store_id))


def product_body(
    caller: Caller, store_id: str, product_id: str, *, verbose: bool, known_tags: Sequence[str] = ()
) -> StoredBody:
    parameters = (*product_visibility(caller, known_tags), product_id, store_id)
    tag, content = _opened(fetch_row(PRODUCT_DETAILS[verbose], parameters), store_id)
    if tag is None:
        raise NotFound(f"There is no product {product_id!r} in this store.", code="product_not_found")
    return StoredBody(tag, content)


def association_required(store_id: str) -> Forbidden:
    return Forbidden(
        f"There is no association with the store {store_id!r}. Ask for one with POST /api/v1/association "
        f'and {{"StoreID": "{store_id}"}}, or on the Associations page of the portal; an administrator '
        "has to approve it.",
        code="association_required",
    )


def _opened(row: tuple[Any, ...] | None, store_id: str) -> tuple[Any, Any]:
    if row is None:
        raise unknown_store(store_id)
    is_open, tag, content = row
    if not is_open:
        raise association_required(store_id)
    return tag, content


def product_visibility(caller: Caller, known_tags: Sequence[str] = ()) -> tuple[Any, ...]:
    """For products a third-party application's association alone decides, whoever its user is."""
    everything, user_id, application_id, *rest = visibility(caller, known_tags)
    return everything, None if application_id is not None else user_id, application_id, *rest
