from applications.admin.applications import ApplicationAdmin
from applications.admin.history import (
    ApplicationHistoryAdmin,
    ApplicationKeyHistoryAdmin,
    WebhookHistoryAdmin,
)
from applications.admin.tokens import AccessTokenAdmin, RefreshTokenAdmin
from applications.admin.users import UserWithTokensAdmin
from applications.admin.webhooks import DeliveryAdmin, WebhookAdmin

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
