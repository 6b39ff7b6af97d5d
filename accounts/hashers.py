"""Django's password hashers in a lane, because Argon2 needs 100 MB and 0.1 s for each password."""

from typing import Any

from django.contrib.auth import hashers

from fulfillment.core.lanes import PASSWORDS


class _InLane:
    def encode(self, *args: Any, **options: Any) -> str:
        with PASSWORDS.slot():
            encoded: str = super().encode(*args, **options)  # type: ignore[misc]  # of the hasher mixed in
        return encoded

    def verify(self, *args: Any, **options: Any) -> bool:
        with PASSWORDS.slot():
            return bool(super().verify(*args, **options))  # type: ignore[misc]


class Argon2(_InLane, hashers.Argon2PasswordHasher):
    pass


class PBKDF2(_InLane, hashers.PBKDF2PasswordHasher):
    """For imported passwords. Verifying calls `encode`, inside the slot it holds."""
