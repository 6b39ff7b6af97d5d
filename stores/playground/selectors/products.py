"""Products as the API shows them, and what a form needs beyond that: the shape of each picture's place."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from accounts.callers import Caller
from fulfillment.core.errors import Conflict
from stores.catalog.selectors.products import product_body, product_list_body
from stores.proofs.selectors.proofs import ProductVersion, product_version
from stores.templates.selectors import layout_of


@dataclass(frozen=True, slots=True)
class ProductPage:
    """`record` is the verbose body of the API; `shapes` has width by height of the first place of each image field.

    `sizes` has width and height of each page in mm.
    """

    record: dict[str, Any]
    version: ProductVersion
    shapes: dict[str, float] = field(default_factory=dict)
    sizes: list[tuple[float, float]] = field(default_factory=list)
    problem: str = ""

    @property
    def can_be_proofed(self) -> bool:
        return self.version.has_template and not self.problem


def product_records(caller: Caller, store_id: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = orjson.loads(
        product_list_body(caller, store_id, verbose=True).content or b"[]"
    )
    return records


def product_page(caller: Caller, store_id: str, product_id: str) -> ProductPage:
    record = orjson.loads(product_body(caller, store_id, product_id, verbose=True).content or b"{}")
    version = product_version(caller, store_id, product_id)
    if not version.has_template:
        return ProductPage(record, version)
    try:
        template = layout_of(version.pk, version.version, version.font_names).template
    except Conflict as error:
        return ProductPage(record, version, problem=error.message)
    shapes: dict[str, float] = {}
    for page in template.pages:
        for box in page.boxes:
            if box.kind == "Image" and box.field:
                shapes.setdefault(box.field, box.width / box.height)
    return ProductPage(record, version, shapes, [(page.width, page.height) for page in template.pages])
