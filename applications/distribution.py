"""Where the tables of this app belong when the database is split by store."""

from fulfillment.core.plugins import Distribution

DISTRIBUTION = Distribution(
    everywhere="Application",
    # Events and deliveries are read by application, across all its stores.
    on_one="""
        ApplicationIcon ApplicationKey DailyUsage Delivery DeliveryAttempt Event LoggedRequest Milestone OwnerInvitation
        UsedCode Webhook WebhookSecret
    """,
)
