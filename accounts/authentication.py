"""Finds the user for a sign-in, and verifies passwords within a limit of simultaneous hashes."""

from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.auth import hashers
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import check_password, make_password
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from accounts.concurrency_limits import PASSWORDS
from accounts.devices import known_device
from accounts.models import User
from accounts.names import split_sign_in_name
from accounts.selectors.emails import find_user_by_confirmed_email
from accounts.selectors.users import find_active_user
from accounts.throttles import count_account_try, count_confirmation, count_sign_in, forget_failures


class TenantBackend(BaseBackend):
    """Signs in by `name@domain`, by the name alone in the default tenant, or by a confirmed e-mail address of only
    one user.

    After too many attempts no password is checked, and the request holds the `sign_in_refusal`. Attempts spread over
    several spellings of a name are answered like wrong passwords, because a refusal would reveal that the name
    exists. Attempts of others do not lock out a browser that signed in to the account before.
    """

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        if not username or password is None or "\0" in username:
            return None
        user = user_for_sign_in(username)
        # Unknown names are limited and counted as well.
        account = str(user.pk) if user else "@".join(split_sign_in_name(username))
        address = request.META.get("REMOTE_ADDR", "") if request else ""
        device = known_device(request, user)
        if refusal := count_sign_in(name=username, address=address, device=device):
            if request:
                request.sign_in_refusal = refusal  # type: ignore[attr-defined]
            raise PermissionDenied
        is_refused = not device and count_account_try(account=account)
        if is_refused or user is None:
            # Hashes as for a wrong password, so that the time reveals nothing.
            check_password(password, _unusable_password(tuple(settings.PASSWORD_HASHERS)))
            return None
        if not user.check_password(password) or not user.is_active:
            return None
        forget_failures(name=username, account=account, address=address, device=device)
        return user

    def get_user(self, user_id: Any) -> User | None:
        return find_active_user(user_id)


def user_for_sign_in(typed: str) -> User | None:
    """The user that a typed name identifies, or None.

    The result must not depend on other accounts: a name is unique in its tenant, and a name without a domain belongs
    to the default tenant, even if only another tenant has it. A full name takes precedence over an equal address.
    """
    # Queried even if the name was found, so that the time reveals nothing.
    by_email = find_user_by_confirmed_email(typed) if "@" in typed else None
    try:
        return User.objects.get_by_natural_key(typed)
    except User.DoesNotExist:
        return by_email


def is_own_password(request: HttpRequest, password: str) -> bool:
    """Whether this is the password of the signed-in user, who is found by primary key.

    Counted on the account like a sign-in, in every form that takes a password. After too many attempts the request
    holds the `sign_in_refusal`, and no password is checked.
    """
    user: Any = request.user
    address = request.META.get("REMOTE_ADDR", "")
    account, device = str(user.pk), known_device(request, user)
    if refusal := count_confirmation(account=account, address=address, device=device):
        request.sign_in_refusal = refusal  # type: ignore[attr-defined]
        return False
    if not user.check_password(password):
        return False
    name = f"{user.username}@{user.tenant.domain}"
    forget_failures(name=name, account=account, address=address, device=device)
    return True


@cache
def _unusable_password(names: tuple[str, ...]) -> str:
    return make_password("no account")


class _Limited:
    def encode(self, *args: Any, **options: Any) -> str:
        with PASSWORDS.slot():
            encoded: str = super().encode(*args, **options)  # type: ignore[misc]  # of the hasher mixed in
        return encoded

    def verify(self, *args: Any, **options: Any) -> bool:
        with PASSWORDS.slot():
            return bool(super().verify(*args, **options))  # type: ignore[misc]


class Argon2(_Limited, hashers.Argon2PasswordHasher):
    pass


class PBKDF2(_Limited, hashers.PBKDF2PasswordHasher):
    """Hashes imported passwords. Verifying calls `encode`, inside the slot it holds."""
