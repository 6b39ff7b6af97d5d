"""Products to make proofs of, stored proofs and assets, and the product of the public start page."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.utils.translation import gettext as _

from accounts.callers import Caller, usable_in_mode
from fulfillment.core.db.prepared import fetch_row, fetch_rows
from fulfillment.core.errors import NotFound
from printing.preflight import ProductFacts
from printing.press.rules import PresetRules
from stores.catalog.models import TemplateField
from stores.catalog.selectors.products import no_product, product_visibility, visible_row
from stores.catalog.selectors.stores import CALLER, VISIBLE
from stores.presets.selectors import PRESET_OF_PRODUCT, rules_from
from stores.proofs.models import Asset

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
FONT_NAMES = """(
    SELECT coalesce(string_agg('fonts/' || font.sha256 || font.suffix, ',' ORDER BY font.id), '') FROM stores_font font
)"""
SIZE = "product.width_mm::float8, product.height_mm::float8, product.page_count, product.is_eddm"
PRODUCT = f"""{CALLER}
SELECT access.is_visible, store.id, product.id, product.version, product.template IS NOT NULL, {FONT_NAMES},
       {PRESET_OF_PRODUCT}, {SIZE}
FROM caller, stores_store store
     CROSS JOIN LATERAL (SELECT {VISIBLE} AS is_visible) access
     LEFT JOIN stores_product product
        ON product.store_id = store.id AND product.external_id = %s AND product.is_active
WHERE store.external_id = %s
"""  # noqa: S608 - constant texts only
PRODUCTS_BY_KEY = f"""
SELECT id, external_id, store_id, version, template IS NOT NULL, {FONT_NAMES}, {PRESET_OF_PRODUCT}, {SIZE}
FROM stores_product product WHERE id = ANY(%s)
"""  # noqa: S608 - constant texts only
STORE = f"""{CALLER}
SELECT access.is_visible, store.id FROM caller, stores_store store, LATERAL (SELECT {VISIBLE} AS is_visible) access
WHERE store.external_id = %s
"""  # noqa: S608 - constant texts only
PROOF = "SELECT digest, sizes, messages::text, last_used, traces, preflight::text FROM stores_proof WHERE digest = %s"
# Cards come first; products that need an uploaded picture or a choice are excluded.
SHOWCASE = f"""
SELECT store.external_id, product.name, product.width_mm::float8, product.height_mm::float8,
       product.id, product.external_id, store.id, product.version, TRUE, {FONT_NAMES}, {PRESET_OF_PRODUCT}, {SIZE}
FROM stores_store store JOIN stores_product product ON product.store_id = store.id AND product.is_active
WHERE store.is_demo AND product.template IS NOT NULL
  AND EXISTS (
      SELECT FROM stores_templatefield field
      WHERE field.product_id = product.id AND field.field_name = 'Name' AND field.sub_type = 'SingleLine')
  AND NOT EXISTS (
      SELECT FROM stores_templatefield field
      WHERE field.product_id = product.id AND field.required AND field.type <> 'Text'
        AND field.default_value = '' AND field.org_value = '')
ORDER BY product.category ILIKE '%%business card%%' DESC, product.position, product.id
LIMIT 1
"""  # noqa: S608 - constant texts only


def assets_for(caller: Caller, store_id: int, asset_ids: Iterable[UUID]) -> dict[UUID, Asset]:
    """The pictures among these IDs that the caller uploaded to this store; on the service's own pages each user has
    its own."""
    owner: dict[str, UUID | None] = {"application_id": caller.application_id}
    if caller.is_first_party:
        owner["user_id"] = caller.user_id
    return Asset.objects.filter(usable_in_mode(caller), store_id=store_id, **owner).in_bulk(list(asset_ids))


def assets_of_templates() -> set[UUID]:
    """The pictures that template fields have as default values."""
    values = TemplateField.objects.filter(type="Image").values_list("default_value", "org_value")
    return {UUID(value) for pair in values.iterator() for value in pair if _UUID.match(value)}


@dataclass(frozen=True, slots=True)
class ProductVersion:
    """The current version of a product; `font_names` are the storage names of all operators' fonts, comma separated.

    `preset` is the record of its print preset, which changes without a new version.
    """

    pk: int
    external_id: str
    store_id: int
    version: int
    has_template: bool
    font_names: str
    preset: str | None
    width_mm: float
    height_mm: float
    page_count: int
    is_eddm: bool

    @property
    def rules(self) -> PresetRules:
        return rules_from(self.preset)

    @property
    def facts(self) -> ProductFacts:
        return ProductFacts(self.width_mm, self.height_mm, self.page_count, self.is_eddm)


@dataclass(frozen=True, slots=True)
class StoredProof:
    digest: str
    sizes: list[int]
    messages: list[str]
    last_used: datetime
    # See stores.proofs.services.merging.
    traces: frozenset[str] = frozenset()
    preflight: Sequence[Mapping[str, Any]] = ()

    @property
    def page_count(self) -> int:
        return len(self.sizes) - 1


def product_version(caller: Caller, store_id: str, product_id: str) -> ProductVersion:
    row = visible_row(fetch_row(PRODUCT, (*product_visibility(caller), product_id, store_id)), store_id)
    if row[1] is None:
        raise NotFound(no_product(product_id), code="product_not_found")
    store, pk, *version = row
    return ProductVersion(pk, product_id, store, *version)


def product_version_of(product_pk: int) -> ProductVersion:
    """The version, for callers who may use the product. The template, which can have megabytes, is not read."""
    versions = product_versions_of([product_pk])
    if not versions:
        raise NotFound(_("The product no longer exists."), code="product_not_found")
    return versions[product_pk]


def product_versions_of(product_pks: Iterable[int]) -> dict[int, ProductVersion]:
    """The existing ones of these products, by primary key."""
    rows = fetch_rows(PRODUCTS_BY_KEY, (sorted(set(product_pks)),))
    return {row[0]: ProductVersion(*row) for row in rows}


def authorized_store_id(caller: Caller, store_id: str) -> int:
    """The primary key of a store whose products the caller may use."""
    [pk] = visible_row(fetch_row(STORE, (*product_visibility(caller), store_id)), store_id)
    return int(pk)


def find_proof(digest: str) -> StoredProof | None:
    row = fetch_row(PROOF, (digest,))
    if row is None:
        return None
    digest, sizes, messages, last_used, traces, preflight = row
    findings = orjson.loads(preflight or b"[]")
    return StoredProof(digest, sizes, orjson.loads(messages), last_used, frozenset(traces or ()), findings)


@dataclass(frozen=True, slots=True)
class Showcase:
    store_id: str
    name: str
    width_mm: float
    height_mm: float
    product: ProductVersion


def showcase() -> Showcase | None:
    """The product to show; None if the demo store has no suitable one."""
    row = fetch_row(SHOWCASE, ())
    if row is None:
        return None
    store_id, name, width, height, *version = row
    return Showcase(store_id, name, width, height, ProductVersion(*version))
