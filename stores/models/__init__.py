from stores.models.asset import Asset, AssetFormat
from stores.models.font import Font
from stores.models.product import (
    DeliveredPrice,
    LocationType,
    Product,
    ProductionSpeed,
    TemplateField,
    TemplateFieldSubType,
    TemplateFieldType,
)
from stores.models.proof import Proof
from stores.models.store import BudgetDuration, BudgetType, Store

__all__ = [
    "Asset",
    "AssetFormat",
    "BudgetDuration",
    "BudgetType",
    "DeliveredPrice",
    "Font",
    "LocationType",
    "Product",
    "ProductionSpeed",
    "Proof",
    "Store",
    "TemplateField",
    "TemplateFieldSubType",
    "TemplateFieldType",
]
