"""Where the tables of this app belong when the database is split by store."""

from fulfillment.core.plugins import Distribution

DISTRIBUTION = Distribution(
    everywhere="Role Tenant User",
    on_one="""
        AssociationRequest Authenticator EmailChange IdempotentResponse Notification NotificationPreference RateWindow
        RecoveryCode RequestLease Subscription SubscriptionKey
    """,
)
