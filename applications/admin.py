from applications.oauth.admin import (
    AccessTokenAdmin,
    ApplicationWithTokensAdmin,
    RefreshTokenAdmin,
    UserWithTokensAdmin,
)
from applications.webhooks.admin import DeliveryAdmin, WebhookAdmin
