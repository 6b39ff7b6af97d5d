from applications.oauth.admin.tokens import AccessTokenAdmin, RefreshTokenAdmin
from applications.registration.admin.applications import ApplicationAdmin
from applications.registration.admin.history import (
    ApplicationHistoryAdmin,
    ApplicationKeyHistoryAdmin,
    WebhookHistoryAdmin,
)
from applications.registration.admin.users import UserWithTokensAdmin
from applications.webhooks.admin.webhooks import DeliveryAdmin, WebhookAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApplicationAdmin",
    "ApplicationHistoryAdmin",
    "ApplicationKeyHistoryAdmin",
    "DeliveryAdmin",
    "RefreshTokenAdmin",
    "UserWithTokensAdmin",
    "WebhookAdmin",
    "WebhookHistoryAdmin",
]
