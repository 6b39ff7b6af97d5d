from applications.registration.models import ApplicationKey
from applications.webhooks.models import WebhookSecret
from fulfillment.core.secrets import StoredSecret

STORED_SECRETS = (
    StoredSecret("application keys", ApplicationKey),
    StoredSecret("webhook secrets", WebhookSecret, digest=None),
)
