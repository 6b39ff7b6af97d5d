from accounts.models import Authenticator, IdempotentAnswer, SubscriptionKey
from accounts.services.secret_generations import TIME_LIMITED
from fulfillment.core.secrets import StoredSecret

__all__ = ["STORED_SECRETS", "TIME_LIMITED"]

# The digests of an answer's key are not written anew: what they are made of is not kept, and a day later they go.
STORED_SECRETS = (
    StoredSecret("subscription keys", SubscriptionKey),
    StoredSecret("authenticators", Authenticator, digest=None),
    StoredSecret("idempotent answers", IdempotentAnswer, ciphertext="body", digest=None),
)
