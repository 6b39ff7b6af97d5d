from stores.orders.models.comment import OrderComment
from stores.orders.models.history import OrderDay, OrderHistory, OrderTally
from stores.orders.models.order import RECIPIENT_FIELDS, Order, OrderItem, Shipment
from stores.orders.models.ordered_asset import OrderedAsset
from stores.orders.models.quote import Quote
from stores.orders.models.scenario import TEST_OUTCOME, TestOutcome, TestScenario
from stores.orders.models.status import ActorKind, CancellationState, OrderStatus
from stores.orders.models.view import OrderView

__all__ = [
    "RECIPIENT_FIELDS",
    "TEST_OUTCOME",
    "ActorKind",
    "CancellationState",
    "Order",
    "OrderComment",
    "OrderDay",
    "OrderHistory",
    "OrderItem",
    "OrderStatus",
    "OrderTally",
    "OrderView",
    "OrderedAsset",
    "Quote",
    "Shipment",
    "TestOutcome",
    "TestScenario",
]
