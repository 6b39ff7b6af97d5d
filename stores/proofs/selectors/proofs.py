"""The product a proof is asked for, and proofs that are there already, each in one prepared statement."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_row, fetch_rows
from fulfillment.core.errors import NotFound
from stores.catalog.selectors.products import association_required, product_visibility
from stores.catalog.selectors.stores import ASKED, VISIBLE, unknown_store

FONT_NAMES = """(
    SELECT coalesce(string_agg('fonts/' || font.sha256 || font.suffix, ',' ORDER BY font.id), '') FROM stores_font font
)"""
PRODUCT = f"""{ASKED}
SELECT opened.yes, store.id, product.id, product.version, product.template IS NOT NULL, {FONT_NAMES}
FROM asked, stores_store store
     CROSS JOIN LATERAL (SELECT {VISIBLE} AS yes) opened
     LEFT JOIN stores_product product
        ON product.store_id = store.id AND product.external_id = %s AND product.is_active
WHERE store.external_id = %s
"""  # noqa: S608 - constant texts only
PRODUCTS_BY_KEY = f"""
SELECT id, external_id, store_id, version, template IS NOT NULL, {FONT_NAMES} FROM stores_product WHERE id = ANY(%s)
"""  # noqa: S608 - constant texts only
STORE = f"""{ASKED}
SELECT opened.yes, store.id FROM asked, stores_store store, LATERAL (SELECT {VISIBLE} AS yes) opened
WHERE store.external_id = %s
"""  # noqa: S608 - constant texts only
PROOF = "SELECT digest, sizes, messages::text, last_used, traces FROM stores_proof WHERE digest = %s"


@dataclass(frozen=True, slots=True)
class ProductVersion:
    """A product as it is now; `font_names` are those of all operators' fonts, comma separated."""

    pk: int
    external_id: str
    store_id: int
    version: int
    has_template: bool
    font_names: str


@dataclass(frozen=True, slots=True)
class StoredProof:
    digest: str
    sizes: list[int]
    messages: list[str]
    last_used: datetime
    # See stores.proofs.services.traces.
    traces: frozenset[str] = frozenset()

    @property
    def page_count(self) -> int:
        return len(self.sizes) - 1


def product_version(caller: Caller, store_id: str, product_id: str) -> ProductVersion:
    row = _opened(fetch_row(PRODUCT, (*product_visibility(caller), product_id, store_id)), store_id)
    if row[1] is None:
        raise NotFound(f"There is no product {product_id!r} in this store.", code="product_not_found")
    store, pk, version, has_template, font_names = row
    return ProductVersion(pk, product_id, store, version, has_template, font_names)


def product_version_of(product_pk: int) -> ProductVersion:
    """For callers that may use the product; its template, which can have megabytes, stays where it is."""
    found = product_versions_of([product_pk])
    if not found:
        raise NotFound("There is no such product any longer.", code="product_not_found")
    return found[product_pk]


def product_versions_of(product_pks: Iterable[int]) -> dict[int, ProductVersion]:
    """By primary key, those that are there."""
    rows = fetch_rows(PRODUCTS_BY_KEY, (sorted(set(product_pks)),))
    return {row[0]: ProductVersion(*row) for row in rows}


def open_store(caller: Caller, store_id: str) -> int:
    """The primary key of a store whose products the caller may use."""
    [pk] = _opened(fetch_row(STORE, (*product_visibility(caller), store_id)), store_id)
    return int(pk)


def find_proof(digest: str) -> StoredProof | None:
    row = fetch_row(PROOF, (digest,))
    return (
        None
        if row is None
        else StoredProof(row[0], row[1], orjson.loads(row[2]), row[3], frozenset(row[4] or ()))
    )


def _opened(row: tuple[Any, ...] | None, store_id: str) -> tuple[Any, ...]:
    if row is None:
        raise unknown_store(store_id)
    if not row[0]:
        raise association_required(store_id)
    return row[1:]
