from stores.catalog.models.product import (
    DeliveredPrice,
    LocationType,
    Product,
    ProductionSpeed,
    TemplateField,
    TemplateFieldSubType,
    TemplateFieldType,
)
from stores.catalog.models.profile import StoreProfile
from stores.catalog.models.store import BudgetDuration, BudgetType, Store
from stores.catalog.models.template_change import TemplateChange
from stores.catalog.models.template_picture import TemplatePicture
from stores.catalog.models.upload import CatalogUpload, CatalogUploadState
from stores.catalog.models.usage import StoreUsage

__all__ = [
    "BudgetDuration",
    "BudgetType",
    "CatalogUpload",
    "CatalogUploadState",
    "DeliveredPrice",
    "LocationType",
    "Product",
    "ProductionSpeed",
    "Store",
    "StoreProfile",
    "StoreUsage",
    "TemplateChange",
    "TemplateField",
    "TemplateFieldSubType",
    "TemplateFieldType",
    "TemplatePicture",
]
