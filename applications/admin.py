from applications.oauth.admin import (
    AccessTokenAdmin,
    ApplicationWithTokensAdmin,
    RefreshTokenAdmin,
    UserWithTokensAdmin,
)
from applications.webhooks.admin import DeliveryAdmin, WebhookAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApplicationWithTokensAdmin",
    "DeliveryAdmin",
    "RefreshTokenAdmin",
    "UserWithTokensAdmin",
    "WebhookAdmin",
]
