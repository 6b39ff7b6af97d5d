from stores.orders.models.history import OrderComment, OrderDay, OrderHistory, OrderTally, OrderView
from stores.orders.models.order import RECIPIENT_FIELDS, Order, OrderedAsset, OrderItem, Quote, Shipment
from stores.orders.models.scenario import TEST_OUTCOME, TestOutcome, TestScenario
from stores.orders.models.search import OrderSearch
from stores.orders.models.status import ActorKind, ApprovalState, CancellationState, OrderStatus

__all__ = [
    "RECIPIENT_FIELDS",
    "TEST_OUTCOME",
    "ActorKind",
    "ApprovalState",
    "CancellationState",
    "Order",
    "OrderComment",
    "OrderDay",
    "OrderHistory",
    "OrderItem",
    "OrderSearch",
    "OrderStatus",
    "OrderTally",
    "OrderView",
    "OrderedAsset",
    "Quote",
    "Shipment",
    "TestOutcome",
    "TestScenario",
]
