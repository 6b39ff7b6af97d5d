from typing import Any

from oauth2_provider.scopes import BaseScopes

from accounts.permissions import DEFAULT_SCOPES, Permission
from applications.registration.models import Application


class PermissionScopes(BaseScopes):
    """Scopes are the permission names; only first-party applications may request `Operator`."""

    def get_all_scopes(self) -> dict[str, str]:
        return {name: str(label) for name, label in Permission.choices}

    def get_available_scopes(
        self, application: Application | None = None, request: Any = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        names = list(Permission.values)
        if application is None or not application.is_first_party:
            names.remove(Permission.OPERATOR)
        return names

    def get_default_scopes(
        self, application: Application | None = None, request: Any = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        return list(DEFAULT_SCOPES)
