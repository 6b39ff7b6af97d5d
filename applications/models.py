from applications.oauth.models import UsedCode
from applications.registration.models import (
    Application,
    ApplicationIcon,
    ApplicationKey,
    DailyUsage,
    InvitationState,
    LoggedRequest,
    Milestone,
    OwnerInvitation,
)
from applications.webhooks.models import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    Event,
    Webhook,
    WebhookSecret,
)

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
    "LoggedRequest",
    "Milestone",
    "OwnerInvitation",
    "UsedCode",
    "Webhook",
    "WebhookSecret",
]
