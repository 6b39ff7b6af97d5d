"""The second step of a sign-in: codes of an authenticator app (TOTP), and recovery codes for when it is lost."""

import base64
import hashlib
import hmac
import secrets
import time
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _
from django_otp.oath import TOTP

from accounts.models import Authenticator, RecoveryCode, User
from accounts.throttles import count_second_step, forget_second_steps
from fulfillment.core.errors import Conflict, Invalid
from fulfillment.core.secrets import decrypt, encrypt

RECOVERY_CODES = 10
# Without letters and digits that look alike.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
STEP = 30


def generate_secret_key() -> str:
    """160 random bits in base32, the format of authenticator apps."""
    return base64.b32encode(secrets.token_bytes(20)).decode()


def provisioning_uri(user: User, key: str) -> str:
    """The content of the QR code."""
    issuer = quote(f"Store Fulfillment ({urlsplit(settings.PUBLIC_URL).hostname})")
    label = quote(f"{user.username}@{user.tenant.domain}")
    return f"otpauth://totp/{issuer}:{label}?secret={key}&issuer={issuer}"


@transaction.atomic
def enable_two_factor(*, user: User, key: str, code: str) -> list[str]:
    """Enables two-factor sign-in if the code proves that the app has the key; returns the recovery codes, once."""
    stored = _lock_user(user)
    if stored.two_factor_since is not None:
        raise Conflict(_("Two-factor authentication is already on."), code="two_factor_on")
    step = _step_of(key, code, after=-1)
    if step is None:
        raise Invalid.at(
            "/Code",
            "code_wrong",
            _("This is not the code that the app shows now. Check the clock of your phone."),
        )
    authenticator = Authenticator.objects.create(user=user, ciphertext=encrypt(key), last_step=step)
    _mark_since(user, stored, timezone.now())
    return _write_codes(authenticator, key)


@transaction.atomic
def disable_two_factor(*, user: User) -> None:
    stored = _lock_user(user)
    Authenticator.objects.filter(user=user).delete()
    _mark_since(user, stored, None)


@transaction.atomic
def renew_recovery_codes(*, user: User) -> list[str]:
    """Replaces all recovery codes."""
    _lock_user(user)
    authenticator = Authenticator.objects.filter(user=user).first()
    if authenticator is None:
        raise Conflict(_("Two-factor authentication is off."), code="two_factor_off")
    authenticator.recovery_codes.all().delete()
    return _write_codes(authenticator, decrypt(authenticator.ciphertext))


def check_second_step(*, user: User, code: str) -> bool:
    """Whether the code is valid. A code is valid once, even for two requests at the same time.

    Raises TooManyRequests after too many tries, right or wrong.
    """
    count_second_step(account=str(user.pk))
    if not _use_up(user, "".join(code.split()).replace("-", "").lower()):
        return False
    forget_second_steps(account=str(user.pk))
    return True


@transaction.atomic
def _use_up(user: User, code: str) -> bool:
    authenticator = Authenticator.objects.select_for_update().filter(user=user).first()
    if authenticator is None:
        return False
    key = decrypt(authenticator.ciphertext)
    step = _step_of(key, code, after=authenticator.last_step)
    if step is not None:
        authenticator.last_step = step
        authenticator.save(update_fields=["last_step"])
        return True
    deleted, _by_model = authenticator.recovery_codes.filter(digest=_digest_code(key, code)).delete()
    return deleted > 0


def _step_of(key: str, code: str, *, after: int) -> int | None:
    """The half minute the code is of: the present one, the one before or the one after; None for a wrong code."""
    if not (code.isascii() and code.isdigit() and len(code) == 6):
        return None
    totp = TOTP(base64.b32decode(key), step=STEP)
    totp.time = time.time()
    if not totp.verify(int(code), tolerance=1, min_t=after + 1):
        return None
    return int(totp.t())


def _write_codes(authenticator: Authenticator, key: str) -> list[str]:
    codes = [get_random_string(12, ALPHABET) for _number in range(RECOVERY_CODES)]
    RecoveryCode.objects.bulk_create(
        RecoveryCode(authenticator=authenticator, digest=_digest_code(key, code)) for code in codes
    )
    return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in codes]


def _digest_code(key: str, code: str) -> str:
    return hmac.digest(key.encode(), code.encode("utf-8", "replace"), hashlib.sha256).hex()


def _lock_user(user: User) -> User:
    return User.objects.select_for_update(of=("self",)).get(pk=user.pk)


def _mark_since(user: User, stored: User, since: object) -> None:
    stored.two_factor_since = user.two_factor_since = since  # type: ignore[assignment]
    stored.save(update_fields=["two_factor_since", "updated"])
