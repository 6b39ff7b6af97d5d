from applications.oauth.admin.applications import ApplicationWithTokensAdmin
from applications.oauth.admin.tokens import AccessTokenAdmin, RefreshTokenAdmin
from applications.oauth.admin.users import UserWithTokensAdmin
from applications.registration.admin.history import (
    ApplicationHistoryAdmin,
    ApplicationKeyHistoryAdmin,
)
from applications.webhooks.admin.history import WebhookHistoryAdmin
from applications.webhooks.admin.webhooks import DeliveryAdmin, WebhookAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApplicationHistoryAdmin",
    "ApplicationKeyHistoryAdmin",
    "ApplicationWithTokensAdmin",
    "DeliveryAdmin",
    "RefreshTokenAdmin",
    "UserWithTokensAdmin",
    "WebhookAdmin",
    "WebhookHistoryAdmin",
]
