"""Event types, and the patterns by which webhooks select them."""

from django.db import models


class EventType(models.TextChoices):
    ORDER_RECEIVED = "order.received"
    ORDER_ON_HOLD = "order.on_hold"
    ORDER_ACCEPTED = "order.accepted"
    ORDER_IN_PRODUCTION = "order.in_production"
    ORDER_PARTIALLY_SHIPPED = "order.partially_shipped"
    ORDER_SHIPPED = "order.shipped"
    ORDER_DELIVERED = "order.delivered"
    ORDER_RETURNED = "order.returned"
    ORDER_CANCELLED = "order.cancelled"
    ORDER_REJECTED = "order.rejected"
    ORDER_CANCELLATION_REQUESTED = "order.cancellation_requested"
    ASSOCIATION_APPROVED = "association.approved"
    ASSOCIATION_DENIED = "association.denied"
    WEBHOOK_TEST = "webhook.test"
    WEBHOOK_DISABLED = "webhook.disabled"


EVERYTHING = "*"
PATTERNS = (EVERYTHING, *dict.fromkeys(f"{name.partition('.')[0]}.*" for name in EventType.values))


def named_types(patterns: list[str]) -> list[str]:
    """The event types that match names and patterns."""
    return [name for name in EventType.values if any(_names(pattern, name) for pattern in patterns)]


def _names(pattern: str, name: str) -> bool:
    return pattern in {EVERYTHING, name} or (pattern.endswith(".*") and name.startswith(pattern[:-1]))
