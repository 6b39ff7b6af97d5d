from applications.registration.models import ApplicationKey
from applications.registration.services.owners import TIME_LIMITED
from applications.webhooks.models import WebhookSecret
from fulfillment.core.secrets import StoredSecret

__all__ = ["STORED_SECRETS", "TIME_LIMITED"]

STORED_SECRETS = (
    StoredSecret("application keys", ApplicationKey),
    StoredSecret("webhook secrets", WebhookSecret, digest=None),
)
