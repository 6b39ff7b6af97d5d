"""What a product still needs before it can be sold."""

from typing import NamedTuple

from django.utils.translation import gettext as _

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
        Step(_("Name, size and quantities"), _("Fill in name, size and quantities."), "basics", sizes, True),
        Step(_("Template fields"), _("Add what customers fill in."), "fields", bool(fields), False),
        Step(_("Prices"), _("Write at least one price."), "prices", bool(prices), True),
        Step(
            _("Default price"),
            _("Choose the price for orders that name no location."),
            "prices",
            any(price.get("IsDefault") for price in prices),
            False,
        ),
        Step(_("Production speeds"), _("Enter the number of business days."), "speeds", bool(speeds), False),
        Step(
            _("Template"),
            _("Create a template: it shows where the fields print."),
            "template",
            template is not None,
            bool(fields),
        ),
    ]
