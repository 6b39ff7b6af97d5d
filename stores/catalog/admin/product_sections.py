"""The columns of a product in the sections of its form; its read-only page has the same, in the same order.

Not listed: the identity of the product, its name and description, which both pages show by themselves.
"""

BASICS = ("category", "api_key", "image_url", "delivery_method", "preset")
SIZES = (
    "width_mm",
    "height_mm",
    "page_count",
    "minimum_quantity",
    "maximum_quantity",
    "default_quantity",
    "quantity_increment",
)
PAPER = (
    "stock_code",
    "stock_weight_gsm",
    "coating",
    "finish",
    "binding",
    "binding_edge",
    "folding",
    "piece_weight_g",
    "thickness_mm",
)
FLAGS = ("is_one_sided", "is_eddm")
SECTIONS = {"basics": BASICS, "sizes": SIZES, "paper": PAPER, "flags": FLAGS}
