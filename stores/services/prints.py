"""What an order needs of a product's template: values that print, and the file for the press."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from accounts.callers import Caller
from fulfillment.measures import measured_rendering
from stores.selectors.proofs import product_version_of
from stores.services.fillings import check_values, fill_template, typesetting_at_work
from stores.typesetting import render_print

# An order is made in one request.
SECONDS = 20.0


class PrintedFile(NamedTuple):
    """`asset_ids` name the uploaded pictures in it; without content there are only these."""

    content: bytes
    sha256: str
    asset_ids: tuple[UUID, ...] = ()


def render_print_file(*, caller: Caller, product_pk: int, values: Mapping[str, object]) -> PrintedFile:
    """Bleed, crop marks, pictures at full resolution; takes up to seconds, so hold no lock meanwhile.

    Refuses what cannot be printed; faults point into `values`. A product without a template has no content.
    """
    product = product_version_of(product_pk)
    if not product.has_template:
        assets = check_values(caller=caller, product=product, values=values)
        return PrintedFile(b"", "", tuple(asset.pk for asset in assets.values()))
    filling = fill_template(caller=caller, product=product, values=values)
    with typesetting_at_work(), measured_rendering("print file"):
        layout = filling.layout
        printed = render_print(
            layout.template, filling.values, filling.images(), layout.fonts, seconds=SECONDS
        )
    used = tuple(asset.pk for asset in filling.assets.values())
    return PrintedFile(printed.pdf, hashlib.sha256(printed.pdf).hexdigest(), used)
