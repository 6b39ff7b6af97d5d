from stores.orders.models.approvals import OWN_ORDER, ApprovalRequest
from stores.orders.models.comments import OrderComment
from stores.orders.models.history import OrderHistory
from stores.orders.models.order import RECIPIENT_FIELDS, Order, OrderedAsset, OrderItem, Quote, Shipment
from stores.orders.models.saved_views import OrderView
from stores.orders.models.scenarios import TEST_OUTCOME, TestOutcome, TestScenario
from stores.orders.models.search import OrderSearch
from stores.orders.models.status import ActorKind, ApprovalState, CancellationState, OrderStatus
from stores.orders.models.tallies import OrderDay, OrderTally
