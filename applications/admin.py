from applications.oauth.admin.applications import ApplicationWithTokensAdmin
from applications.oauth.admin.tokens import AccessTokenAdmin, RefreshTokenAdmin
from applications.oauth.admin.users import UserWithTokensAdmin
from applications.webhooks.admin.webhooks import DeliveryAdmin, WebhookAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApplicationWithTokensAdmin",
    "DeliveryAdmin",
    "RefreshTokenAdmin",
    "UserWithTokensAdmin",
    "WebhookAdmin",
]
