from stores.catalog.models.product import (
    DeliveredPrice,
    LocationType,
    Product,
    ProductionSpeed,
    TemplateField,
    TemplateFieldSubType,
    TemplateFieldType,
)
from stores.catalog.models.store import BudgetDuration, BudgetType, Store, StoreProfile, StoreUsage
from stores.catalog.models.template import (
    ArtworkUpload,
    CatalogUpload,
    CatalogUploadState,
    TemplateChange,
    TemplatePicture,
)
