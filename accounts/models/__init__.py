from accounts.models.association_request import AssociationRequest, AssociationState
from accounts.models.email_change import EmailChange
from accounts.models.idempotent_answer import IdempotentAnswer
from accounts.models.notification import Notification, NotificationKind, NotificationPreference
from accounts.models.rate_window import RateWindow
from accounts.models.role import Role
from accounts.models.subscription import Subscription, SubscriptionKey, SubscriptionSlot
from accounts.models.tenant import Tenant
from accounts.models.two_factor import Authenticator, RecoveryCode
from accounts.models.user import User, UserManager

__all__ = [
    "AssociationRequest",
    "AssociationState",
    "Authenticator",
    "EmailChange",
    "IdempotentAnswer",
    "Notification",
    "NotificationKind",
    "NotificationPreference",
    "RateWindow",
    "RecoveryCode",
    "Role",
    "Subscription",
    "SubscriptionKey",
    "SubscriptionSlot",
    "Tenant",
    "User",
    "UserManager",
]
