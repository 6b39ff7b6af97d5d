from fulfillment.core.secrets import StoredSecret
from production.providers.models import Provider

STORED_SECRETS = (
    StoredSecret("secrets of print providers", Provider, ciphertext="secrets_ciphertext", digest=None),
    StoredSecret(
        "report addresses of print providers",
        Provider,
        ciphertext="postback_ciphertext",
        digest="postback_digest",
    ),
)
