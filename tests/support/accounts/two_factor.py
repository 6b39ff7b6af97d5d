"""The second step of a sign-in, as a person with an authenticator takes it."""

import base64
import time

from django_otp.oath import TOTP

from accounts.models import User
from accounts.services.two_factor import enable_two_factor, generate_secret_key


def code_of(key: str, seconds_later: float = 0) -> str:
    totp = TOTP(base64.b32decode(key))
    totp.time = time.time() + seconds_later
    return f"{totp.token():06d}"


def turned_on(user: User) -> tuple[str, list[str]]:
    """The key of the authenticator, and the recovery codes."""
    key = generate_secret_key()
    return key, enable_two_factor(user=user, key=key, code=code_of(key))
