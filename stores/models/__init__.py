from stores.models.order import Order, OrderItem, Shipment
from stores.models.order_history import OrderHistory, OrderTally
from stores.models.order_status import ActorKind, CancellationState, OrderStatus
from stores.models.product import (
    DeliveredPrice,
    LocationType,
    Product,
    ProductionSpeed,
    TemplateField,
    TemplateFieldSubType,
    TemplateFieldType,
)
from stores.models.quote import Quote
from stores.models.store import BudgetDuration, BudgetType, Store

__all__ = [
    "ActorKind",
    "BudgetDuration",
    "BudgetType",
    "CancellationState",
    "DeliveredPrice",
    "LocationType",
    "Order",
    "OrderHistory",
    "OrderItem",
    "OrderStatus",
    "OrderTally",
    "Product",
    "ProductionSpeed",
    "Quote",
    "Shipment",
    "Store",
    "TemplateField",
    "TemplateFieldSubType",
    "TemplateFieldType",
]
