"""Stored secrets: a keyed digest to find and check them, a cipher text so that owners can read them.

Both keys live outside the database (settings `PEPPERS` and `ENCRYPTION_KEYS`, the newest first): a copy of
the database alone neither reveals a secret nor checks a guess. Older keys are still read until values are
rewritten (fulfillment.operations.secret_rotation). Slow password hashes are for secrets people choose; these have at
least 256 random bits.
"""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db.models import Model
from django.utils.translation import gettext as _

from fulfillment.core.errors import Unavailable


class SecretUnreadable(Unavailable):
    """None of the keys in use made the cipher text."""

    code = "secret_unreadable"
    retry_after = 60

    def __init__(self) -> None:
        super().__init__(
            _(
                "No encryption key opens what is stored here. The operators of the service have to restore the key."
            )
        )


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """The columns of one kind of secret; without a digest the secret is only read, never searched for."""

    name: str
    model: type[Model]
    ciphertext: str = "ciphertext"
    digest: str | None = "digest"


def generate_secret(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(32)


def digest(value: str) -> str:
    """HMAC-SHA-256 under the newest pepper, in hex."""
    return _compute_digest(settings.PEPPERS[0], value)


def digests(value: str) -> list[str]:
    """The digests under which a stored copy of `value` may be found, one for each pepper in use."""
    return [_compute_digest(pepper, value) for pepper in settings.PEPPERS]


def encrypt(value: str) -> bytes:
    return _cipher(tuple(settings.ENCRYPTION_KEYS)).encrypt(value.encode())


def decrypt(ciphertext: bytes | memoryview) -> str:
    """Raises SecretUnreadable."""
    try:
        return _cipher(tuple(settings.ENCRYPTION_KEYS)).decrypt(bytes(ciphertext)).decode()
    except InvalidToken as error:
        raise SecretUnreadable from error


def is_newest(ciphertext: bytes | memoryview) -> bool:
    """Whether the newest encryption key made it."""
    try:
        _cipher((settings.ENCRYPTION_KEYS[0],)).decrypt(bytes(ciphertext))
    except InvalidToken:
        return False
    return True


def mask_secret(value: str) -> str:
    return "•" * 8 + value[-4:]


def _compute_digest(pepper: str, value: str) -> str:
    code = _make_hmac(pepper).copy()
    code.update(value.encode("utf-8", "surrogatepass"))
    return code.hexdigest()


@cache
def _make_hmac(pepper: str) -> hmac.HMAC:
    return hmac.new(pepper.encode(), digestmod=hashlib.sha256)


@cache
def _cipher(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(urlsafe_b64encode(hashlib.sha256(key.encode()).digest())) for key in keys])
