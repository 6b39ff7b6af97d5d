import re

from django.db import models
from django.utils.translation import gettext, gettext_noop
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


# For the catalogs.
STATUS_WORDS = (
    gettext_noop("Received"),
    gettext_noop("On hold"),
    gettext_noop("Accepted"),
    gettext_noop("In production"),
    gettext_noop("Partially shipped"),
    gettext_noop("Shipped"),
    gettext_noop("Delivered"),
    gettext_noop("Returned"),
    gettext_noop("Cancelled"),
    gettext_noop("Rejected"),
)
S = OrderStatus
ALLOWED_TRANSITIONS: dict[int, frozenset[int]] = {
    S.RECEIVED: frozenset({S.ON_HOLD, S.ACCEPTED, S.CANCELLED, S.REJECTED}),
    S.ON_HOLD: frozenset({S.RECEIVED, S.ACCEPTED, S.CANCELLED, S.REJECTED}),
    S.ACCEPTED: frozenset({S.ON_HOLD, S.IN_PRODUCTION, S.CANCELLED}),
    S.IN_PRODUCTION: frozenset({S.ON_HOLD, S.PARTIALLY_SHIPPED, S.SHIPPED, S.CANCELLED}),
    S.PARTIALLY_SHIPPED: frozenset({S.SHIPPED}),
    S.SHIPPED: frozenset({S.DELIVERED, S.RETURNED}),
    S.DELIVERED: frozenset({S.RETURNED}),
    S.RETURNED: frozenset(),
    S.CANCELLED: frozenset(),
    S.REJECTED: frozenset(),
}

EVENT_TYPES: dict[int, str] = {
    S.RECEIVED: EventType.ORDER_RECEIVED.value,
    S.ON_HOLD: EventType.ORDER_ON_HOLD.value,
    S.ACCEPTED: EventType.ORDER_ACCEPTED.value,
    S.IN_PRODUCTION: EventType.ORDER_IN_PRODUCTION.value,
    S.PARTIALLY_SHIPPED: EventType.ORDER_PARTIALLY_SHIPPED.value,
    S.SHIPPED: EventType.ORDER_SHIPPED.value,
    S.DELIVERED: EventType.ORDER_DELIVERED.value,
    S.RETURNED: EventType.ORDER_RETURNED.value,
    S.CANCELLED: EventType.ORDER_CANCELLED.value,
    S.REJECTED: EventType.ORDER_REJECTED.value,
}

CANCELLABLE_AT_ONCE = frozenset({S.RECEIVED, S.ON_HOLD, S.ACCEPTED})
CANCELLABLE_ON_REQUEST = CANCELLABLE_AT_ONCE | {S.IN_PRODUCTION}
WITH_SHIPMENTS = frozenset({S.PARTIALLY_SHIPPED, S.SHIPPED})
# Nothing remains to be produced or shipped, so the address is no longer needed.
TERMINAL_OR_SHIPPED = [
    S.SHIPPED.value,
    S.DELIVERED.value,
    S.RETURNED.value,
    S.CANCELLED.value,
    S.REJECTED.value,
]
# Open: still to be produced or shipped.
OPEN_STATUSES = [status.value for status in S if status.value not in TERMINAL_OR_SHIPPED]
# The automatic transitions of the demo store's orders.
DEMO_NEXT_STATUS: dict[int, int] = {
    S.RECEIVED: S.ACCEPTED,
    S.ON_HOLD: S.ACCEPTED,
    S.ACCEPTED: S.IN_PRODUCTION,
    S.IN_PRODUCTION: S.SHIPPED,
    S.PARTIALLY_SHIPPED: S.SHIPPED,
    S.SHIPPED: S.DELIVERED,
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
