"""The chosen options of an item, by name and value, which a press needs in addition to the print file."""

from stores.catalog.models import TemplateField, TemplateFieldType
from stores.orders.models import OrderItem

PRESET = "Print preset"


def item_options(item: OrderItem) -> dict[str, str]:
    """Its fields of the type Choice, as ordered or by their defaults, and the print preset of the product."""
    values = item.template_data or {}
    chosen: dict[str, str] = {}
    fields = TemplateField.objects.filter(product=item.product_id, type=TemplateFieldType.CHOICE)
    for field in fields.order_by("position"):
        value = values.get(field.field_name)
        value = (field.org_value or field.default_value) if value is None else value
        if isinstance(value, str) and value.strip():
            chosen[field.field_name] = value
    if preset := item.product.preset_id:
        chosen.setdefault(PRESET, preset)
    return chosen
