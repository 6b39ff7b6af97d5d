from applications.models.application import Application
from applications.models.delivery import Delivery, DeliveryAttempt, DeliveryState
from applications.models.event import Event
from applications.models.icon import ApplicationIcon
from applications.models.key import ApplicationKey
from applications.models.owner_invitation import InvitationState, OwnerInvitation
from applications.models.usage import DailyUsage
from applications.models.used_code import UsedCode
from applications.models.webhook import Webhook, WebhookSecret

__all__ = [
    "Application",
    "ApplicationIcon",
    "ApplicationKey",
    "DailyUsage",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryState",
    "Event",
    "InvitationState",
    "OwnerInvitation",
    "UsedCode",
    "Webhook",
    "WebhookSecret",
]
