"""What each order status allows: its transitions, its event, and whether customers may still cancel."""

import re

from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from applications.webhooks.event_types import EventType


class OrderStatus(models.IntegerChoices):
    RECEIVED = 10, "Received"
    ON_HOLD = 20, "OnHold"
    ACCEPTED = 30, "Accepted"
    IN_PRODUCTION = 40, "InProduction"
    PARTIALLY_SHIPPED = 50, "PartiallyShipped"
    SHIPPED = 60, "Shipped"
    DELIVERED = 70, "Delivered"
    RETURNED = 80, "Returned"
    CANCELLED = 90, "Cancelled"
    REJECTED = 95, "Rejected"

    @property
    def words(self) -> str:
        """The label in words: "On hold" instead of the API's OnHold."""
        return re.sub(r"(?<=[a-z])[A-Z]", lambda letter: f" {letter[0].lower()}", self.label)

    @property
    def shown(self) -> str:
        """The words in the language of the page."""
        return gettext(self.words)


ALLOWED_TRANSITIONS: dict[int, frozenset[int]] = {
    OrderStatus.RECEIVED: frozenset(
        {OrderStatus.ON_HOLD, OrderStatus.ACCEPTED, OrderStatus.CANCELLED, OrderStatus.REJECTED}
    ),
    OrderStatus.ON_HOLD: frozenset(
        {OrderStatus.RECEIVED, OrderStatus.ACCEPTED, OrderStatus.CANCELLED, OrderStatus.REJECTED}
    ),
    OrderStatus.ACCEPTED: frozenset({OrderStatus.ON_HOLD, OrderStatus.IN_PRODUCTION, OrderStatus.CANCELLED}),
    OrderStatus.IN_PRODUCTION: frozenset(
        {OrderStatus.ON_HOLD, OrderStatus.PARTIALLY_SHIPPED, OrderStatus.SHIPPED, OrderStatus.CANCELLED}
    ),
    OrderStatus.PARTIALLY_SHIPPED: frozenset({OrderStatus.SHIPPED}),
    OrderStatus.SHIPPED: frozenset({OrderStatus.DELIVERED, OrderStatus.RETURNED}),
    OrderStatus.DELIVERED: frozenset({OrderStatus.RETURNED}),
    OrderStatus.RETURNED: frozenset(),
    OrderStatus.CANCELLED: frozenset(),
    OrderStatus.REJECTED: frozenset(),
}

EVENT_TYPES: dict[int, str] = {status: EventType[f"ORDER_{status.name}"].value for status in OrderStatus}

# Nothing of it is to be produced now.
UNACCEPTED = frozenset({OrderStatus.RECEIVED, OrderStatus.ON_HOLD})
CANCELLABLE_AT_ONCE = UNACCEPTED | {OrderStatus.ACCEPTED}
CANCELLABLE_ON_REQUEST = CANCELLABLE_AT_ONCE | {OrderStatus.IN_PRODUCTION}
WITH_SHIPMENTS = frozenset({OrderStatus.PARTIALLY_SHIPPED, OrderStatus.SHIPPED})
# Nothing remains to be produced or shipped, so the address is no longer needed.
TERMINAL_OR_SHIPPED = [
    OrderStatus.SHIPPED.value,
    OrderStatus.DELIVERED.value,
    OrderStatus.RETURNED.value,
    OrderStatus.CANCELLED.value,
    OrderStatus.REJECTED.value,
]
# Open: still to be produced or shipped.
OPEN_STATUSES = [status.value for status in OrderStatus if status.value not in TERMINAL_OR_SHIPPED]
# The automatic transitions of the demo store's orders.
DEMO_NEXT_STATUS: dict[int, int] = {
    OrderStatus.RECEIVED: OrderStatus.ACCEPTED,
    OrderStatus.ON_HOLD: OrderStatus.ACCEPTED,
    OrderStatus.ACCEPTED: OrderStatus.IN_PRODUCTION,
    OrderStatus.IN_PRODUCTION: OrderStatus.SHIPPED,
    OrderStatus.PARTIALLY_SHIPPED: OrderStatus.SHIPPED,
    OrderStatus.SHIPPED: OrderStatus.DELIVERED,
}


class CancellationState(models.TextChoices):
    NONE = "", _("Not requested")
    REQUESTED = "Requested", _("Requested")
    ACCEPTED = "Accepted", _("Accepted")
    REFUSED = "Refused", _("Refused")


class ApprovalState(models.TextChoices):
    """`Expired` ended without a decision: in time, or because the order was cancelled or rejected."""

    NONE = "", _("Not needed")
    PENDING = "Pending", _("Pending")
    APPROVED = "Approved", _("Approved")
    DENIED = "Denied", _("Denied")
    EXPIRED = "Expired", _("Expired")


class ActorKind(models.TextChoices):
    APPLICATION = "Application", _("Application")
    USER = "User", _("User")
    STORE = "Store", _("Store")
    OPERATOR = "Operator", _("Operator")
    SYSTEM = "System", _("System")
