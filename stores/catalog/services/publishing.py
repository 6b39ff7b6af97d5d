"""What a product needs before it can be sold."""

from typing import NamedTuple

from stores.templates.records import Record


class Step(NamedTuple):
    """`text` says what to do; `place` is the part of the product page it belongs to."""

    name: str
    text: str
    place: str
    is_done: bool
    is_required: bool

    @property
    def is_missing(self) -> bool:
        return self.is_required and not self.is_done


def steps_to_sale(record: Record) -> list[Step]:
    """In the order of the page. Without its required steps a product cannot be ordered or printed."""
    fields, prices = record.get("TemplateFields", ()), record.get("DeliveredPrices", ())
    speeds, template = record.get("ProductionSpeeds", ()), record.get("Template")
    sizes = all(record.get(name) for name in ("Name", "DefaultQty", "WidthMM", "HeightMM"))
    return [
        Step("Name, size and quantities", "Fill in name, size and quantities.", "basics", sizes, True),
        Step("Template fields", "Add what customers fill in.", "fields", bool(fields), False),
        Step("Prices", "Write at least one price.", "prices", bool(prices), True),
        Step(
            "Default price",
            "Choose the price that counts where an order names no location.",
            "prices",
            any(price.get("IsDefault") for price in prices),
            False,
        ),
        Step("Production speeds", "Say how many business days it takes.", "speeds", bool(speeds), False),
        Step(
            "Template",
            "Make a template: it shows where the fields are printed.",
            "template",
            template is not None,
            bool(fields),
        ),
    ]
