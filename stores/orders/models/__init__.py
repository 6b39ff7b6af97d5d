from stores.orders.models.history import OrderHistory, OrderTally
from stores.orders.models.order import Order, OrderItem, Shipment
from stores.orders.models.ordered_asset import OrderedAsset
from stores.orders.models.quote import Quote
from stores.orders.models.status import ActorKind, CancellationState, OrderStatus

__all__ = [
    "ActorKind",
    "CancellationState",
    "Order",
    "OrderHistory",
    "OrderItem",
    "OrderStatus",
    "OrderTally",
    "OrderedAsset",
    "Quote",
    "Shipment",
]
