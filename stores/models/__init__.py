from stores.models.product import (
    DeliveredPrice,
    LocationType,
    Product,
    ProductionSpeed,
    TemplateField,
    TemplateFieldSubType,
    TemplateFieldType,
)
from stores.models.store import BudgetDuration, BudgetType, Store

__all__ = [
    "BudgetDuration",
    "BudgetType",
    "DeliveredPrice",
    "LocationType",
    "Product",
    "ProductionSpeed",
    "Store",
    "TemplateField",
    "TemplateFieldSubType",
    "TemplateFieldType",
]
