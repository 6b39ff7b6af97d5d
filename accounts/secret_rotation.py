from accounts.models import Authenticator, IdempotentResponse, SubscriptionKey
from fulfillment.core.secrets import StoredSecret

# Digests of idempotency keys are not rotated: the keys themselves are not stored, and the digests expire in a day.
STORED_SECRETS = (
    StoredSecret("subscription keys", SubscriptionKey),
    StoredSecret("authenticators", Authenticator, digest=None),
    StoredSecret("idempotent responses", IdempotentResponse, ciphertext="body", digest=None),
)
