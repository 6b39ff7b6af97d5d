from applications.webhooks.models.delivery import Delivery, DeliveryAttempt, DeliveryState
from applications.webhooks.models.event import Event
from applications.webhooks.models.webhook import Webhook, WebhookSecret

__all__ = ["Delivery", "DeliveryAttempt", "DeliveryState", "Event", "Webhook", "WebhookSecret"]
