from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import make_password
from django.db.models import Q
from django.http import HttpRequest

from accounts.models import User


class TenantBackend(BaseBackend):
    """Signs in by `name@domain`, or by the name alone where just one tenant has such a user."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        if not username or password is None or "\0" in username:
            return None
        name, _, domain = username.rpartition("@")
        matches = list(
            User.objects.filter(
                Q(username__iexact=username) | Q(username__iexact=name, tenant__domain__iexact=domain)
            ).select_related("tenant")[:2]
        )
        if len(matches) != 1:
            make_password(password)  # as slow as a wrong password, so that time tells nothing
            return None
        user = matches[0]
        return user if user.check_password(password) and user.is_active else None

    def get_user(self, user_id: Any) -> User | None:
        return User.objects.filter(pk=user_id, is_active=True).select_related("tenant").first()
