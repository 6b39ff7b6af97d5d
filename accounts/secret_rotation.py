from accounts.models import Authenticator, IdempotentAnswer, SubscriptionKey
from accounts.services.secret_generations import TIME_LIMITED
from fulfillment.core.secrets import StoredSecret

__all__ = ["STORED_SECRETS", "TIME_LIMITED"]

# Digests of idempotency keys are not rotated: the keys themselves are not stored, and the digests expire in a day.
STORED_SECRETS = (
    StoredSecret("subscription keys", SubscriptionKey),
    StoredSecret("authenticators", Authenticator, digest=None),
    StoredSecret("idempotent answers", IdempotentAnswer, ciphertext="body", digest=None),
)
