from accounts.services.secret_generations import SECRET_KEY, TimeLimited
from fulfillment.core.secrets import StoredSecret
from production.jobs.selectors.building import FILE_VALID
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
TIME_LIMITED = (TimeLimited("addresses of print files for providers", SECRET_KEY, FILE_VALID),)
