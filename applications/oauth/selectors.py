"""The authorizations that a user gave, from all valid tokens."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Max, Min, QuerySet
from django.utils import timezone
from oauth2_provider.models import AccessToken, RefreshToken
from oauth2_provider.settings import oauth2_settings

from accounts.models import User
from accounts.permissions import Permission
from applications.registration.models import Application
from applications.registration.selectors.applications import select_icons


@dataclass(frozen=True, slots=True)
class Authorization:
    application: Application
    since: datetime
    last: datetime
    scopes: frozenset[str]

    @property
    def descriptions(self) -> list[str]:
        return [str(permission.label) for permission in Permission if permission.value in self.scopes]


def user_authorizations(user: User) -> list[Authorization]:
    """Sorted by application name; three queries for any number of tokens."""
    tokens, renewals = _valid_tokens(user.pk)
    rows: dict[Any, list[dict[str, Any]]] = {}
    for row in [*_by_application(tokens, "scope"), *_by_application(renewals, "access_token__scope")]:
        rows.setdefault(row["application_id"], []).append(row)
    applications = select_icons(Application.objects.all()).in_bulk(list(rows))
    authorizations = [_make_authorization(applications[key], parts) for key, parts in rows.items()]
    return sorted(
        authorizations,
        key=lambda authorization: (authorization.application.name.lower(), str(authorization.application.pk)),
    )


def is_authorized(*, user_id: UUID, application_id: UUID) -> bool:
    """Whether the application has a valid token of the user."""
    return any(tokens.filter(application=application_id).exists() for tokens in _valid_tokens(user_id))


def _valid_tokens(user_id: UUID) -> tuple[QuerySet[Any], QuerySet[Any]]:
    now = timezone.now()
    oldest = now - timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
    return (
        AccessToken.objects.filter(user=user_id, expires__gt=now),
        RefreshToken.objects.filter(user=user_id, revoked__isnull=True, created__gt=oldest),
    )


def _by_application(tokens: QuerySet[Any], scope: str) -> Iterable[dict[str, Any]]:
    return (
        tokens.order_by()
        .values("application_id")
        .annotate(since=Min("created"), last=Max("created"), scopes=ArrayAgg(scope, distinct=True))
    )


def _make_authorization(application: Application, rows: list[dict[str, Any]]) -> Authorization:
    # A refresh token takes its scope from its access token, which may no longer exist.
    texts = [text for row in rows for text in row["scopes"] if text]
    return Authorization(
        application=application,
        since=min(row["since"] for row in rows),
        last=max(row["last"] for row in rows),
        scopes=frozenset(name for text in texts for name in text.split()),
    )
