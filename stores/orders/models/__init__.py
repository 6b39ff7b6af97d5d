from stores.orders.models.history import (
    OWN_ORDER,
    TEST_OUTCOME,
    ApprovalRequest,
    OrderComment,
    OrderDay,
    OrderHistory,
    OrderTally,
    OrderView,
    TestOutcome,
    TestScenario,
)
from stores.orders.models.order import RECIPIENT_FIELDS, Order, OrderedAsset, OrderItem, Quote, Shipment
from stores.orders.models.search import OrderSearch
from stores.orders.models.status import ActorKind, ApprovalState, CancellationState, OrderStatus
