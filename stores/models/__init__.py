from stores.models.artwork_upload import ArtworkUpload
from stores.models.asset import Asset, AssetFormat
from stores.models.catalog_upload import CatalogUpload, CatalogUploadState
from stores.models.font import Font
from stores.models.order import Order, OrderItem, Shipment
from stores.models.order_history import OrderHistory, OrderTally
from stores.models.order_status import ActorKind, CancellationState, OrderStatus
from stores.models.ordered_asset import OrderedAsset
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
from stores.models.quote import Quote
from stores.models.store import BudgetDuration, BudgetType, Store
from stores.models.template_change import TemplateChange

__all__ = [
    "ActorKind",
    "ArtworkUpload",
    "Asset",
    "AssetFormat",
    "BudgetDuration",
    "BudgetType",
    "CancellationState",
    "CatalogUpload",
    "CatalogUploadState",
    "DeliveredPrice",
    "Font",
    "LocationType",
    "Order",
    "OrderHistory",
    "OrderItem",
    "OrderStatus",
    "OrderTally",
    "OrderedAsset",
    "Product",
    "ProductionSpeed",
    "Proof",
    "Quote",
    "Shipment",
    "Store",
    "TemplateChange",
    "TemplateField",
    "TemplateFieldSubType",
    "TemplateFieldType",
]
