from accounts.models.access import (
    AssociationRequest,
    AssociationState,
    IdempotentResponse,
    RateWindow,
    RequestLease,
    Role,
    Subscription,
    SubscriptionKey,
    SubscriptionSlot,
)
from accounts.models.users import (
    Authenticator,
    EmailChange,
    Notification,
    NotificationKind,
    NotificationPreference,
    RecoveryCode,
    Tenant,
    User,
)
