from applications.models import ApplicationKey, WebhookSecret
from applications.registration.services.owners import TIME_LIMITED
from fulfillment.core.secrets import StoredSecret

__all__ = ["STORED_SECRETS", "TIME_LIMITED"]

STORED_SECRETS = (
    StoredSecret("application keys", ApplicationKey),
    StoredSecret("webhook secrets", WebhookSecret, digest=None),
)
