"""What an order needs of a product's template: values that print, and the file for the press."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from accounts.callers import Caller
from stores.models import Product
from stores.selectors.proofs import product_version_of
from stores.services.fillings import fill_template, typesetting_at_work
from stores.typesetting import render_print

# An order is made in one request.
SECONDS = 20.0


class PrintedFile(NamedTuple):
    content: bytes
    sha256: str


def check_values(*, caller: Caller, product: Product, values: Mapping[str, object]) -> None:
    """Refuses values as a proof would, but for what only rendering shows: text that does not fit."""
    fill_template(caller=caller, product=product_version_of(product), values=values)


def render_print_file(*, caller: Caller, product: Product, values: Mapping[str, object]) -> PrintedFile:
    """Renders bleed, crop marks and pictures at full resolution; takes up to seconds, so hold no lock meanwhile."""
    filling = fill_template(caller=caller, product=product_version_of(product), values=values)
    with typesetting_at_work():
        layout = filling.layout
        printed = render_print(
            layout.template, filling.values, filling.images(), layout.fonts, seconds=SECONDS
        )
    return PrintedFile(printed.pdf, hashlib.sha256(printed.pdf).hexdigest())
