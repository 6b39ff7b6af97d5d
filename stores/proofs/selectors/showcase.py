"""The product of the demo store on the public start page."""

from dataclasses import dataclass

from fulfillment.core.db.prepared import fetch_row
from stores.presets.selectors import PRESET_OF_PRODUCT
from stores.proofs.selectors.proofs import FONT_NAMES, SIZE, ProductVersion

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
