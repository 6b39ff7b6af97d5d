"""Django's password hashers with a concurrency limit, because Argon2 needs 100 MB and 0.1 s for each password."""

from typing import Any

from django.contrib.auth import hashers

from accounts.concurrency_limits import PASSWORDS


class _Limited:
    def encode(self, *args: Any, **options: Any) -> str:
        with PASSWORDS.limited():
            encoded: str = super().encode(*args, **options)  # type: ignore[misc]  # of the hasher mixed in
        return encoded

    def verify(self, *args: Any, **options: Any) -> bool:
        with PASSWORDS.limited():
            return bool(super().verify(*args, **options))  # type: ignore[misc]


class Argon2(_Limited, hashers.Argon2PasswordHasher):
    pass


class PBKDF2(_Limited, hashers.PBKDF2PasswordHasher):
    """For imported passwords. Verifying calls `encode`, inside the slot it holds."""
