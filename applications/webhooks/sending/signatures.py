"""Standard Webhooks 1.0: secrets and signature headers."""

import secrets
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from standardwebhooks import Webhook as Signer

from fulfillment.core.secrets import decrypt

SECRET_BYTES = 32
USER_AGENT = "StoreFulfillment-Webhooks/1"


def generate_webhook_secret() -> str:
    return "whsec_" + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed_headers(
    *, ciphertexts: Sequence[bytes], event_id: str, now: datetime, body: bytes
) -> dict[str, str]:
    """One signature for each secret, so that a receiver may hold the old or the new one."""
    signatures = [_signer(bytes(text)).sign(event_id, now, body.decode()) for text in ciphertexts]
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


@lru_cache(maxsize=1024)
def _signer(ciphertext: bytes) -> Signer:
    return Signer(decrypt(ciphertext))
