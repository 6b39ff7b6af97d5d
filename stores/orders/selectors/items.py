"""What an item was ordered with: its product, options and print preset."""

from copy import copy

from printing.press.rules import BUILT_IN_CODE
from stores.catalog.models import Product
from stores.orders.models import OrderItem
from stores.templates.selectors import fields_of, options_of

PRESET = "Print preset"


def ordered_product(item: OrderItem) -> Product:
    """The product with the paper, sides, binding and folding that the item was ordered with; do not save it."""
    product = copy(item.product)
    for name, value in (item.finishing or {}).items():
        setattr(product, name, value)
    return product


def item_options(item: OrderItem) -> dict[str, str]:
    """The item's fields of the type Choice, as ordered, and its print preset."""
    values = item.template_data or {}
    # Orders from before `options` have only the fields and defaults of today.
    options = options_of(fields_of(item.product_id), values) if item.options is None else dict(item.options)
    if preset := preset_code(item):
        options.setdefault(PRESET, preset)
    return options


def preset_code(item: OrderItem) -> str:
    """The print preset that its file was made with; empty for the built-in one."""
    # Orders from before `print_preset`, and items without a print file, have only the product's preset of today.
    code = item.print_preset["Code"] if item.print_preset else item.product.preset_id
    return "" if code in (None, BUILT_IN_CODE) else code


def preset_name(item: OrderItem) -> str:
    """The name of the print preset, as a slug line shows it."""
    code = preset_code(item)
    return item.print_preset["Name"] if code and item.print_preset else code


def preset_version(item: OrderItem) -> str:
    """The code as `preset_code`, with a digest: print files of one preset differ if it was changed between them."""
    code = preset_code(item)
    return f"{code} {item.print_preset['Digest'][:8]}" if code and item.print_preset else code
