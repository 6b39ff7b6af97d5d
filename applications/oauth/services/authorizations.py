"""Revokes codes and tokens, with effect at commit."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken
from oauth2_provider.settings import oauth2_settings

from accounts.models import User
from applications.oauth.models import UsedCode
from applications.registration.models import Application
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows


@transaction.atomic
def revoke_authorization(*, user: User, application: Application) -> None:
    """Ends every code, token and refresh family that a user gave an application."""
    _end_everything(user=user, application=application)


@transaction.atomic
def end_tokens_of_application(*, application: Application) -> None:
    """Ends every code and token of an application, those of its own calls too."""
    _end_everything(application=application)


@transaction.atomic
def end_everything_of_user(*, user: User) -> None:
    """Ends every code and token that a user ever gave."""
    _end_everything(user=user)


@transaction.atomic
def end_token_family(*, token_family: UUID | None) -> None:
    """Ends all tokens that descend from one sign-in."""
    if token_family is not None:
        _end_refresh_tokens(token_family=token_family)


@transaction.atomic
def end_tokens_of_code(*, digest: str, application: Application) -> None:
    """Ends the tokens of a reused authorization code. Unknown codes are ignored."""
    used = UsedCode.objects.filter(digest=digest, application=application).first()
    if used is not None:
        end_token_family(token_family=used.token_family)
        AccessToken.objects.filter(
            token_checksum=used.access_token_checksum, application=application
        ).delete()


@transaction.atomic
def end_token(*, checksum: str, application: Application) -> None:
    """Revocation by the client (RFC 7009): ends the token's family, even for a rotated refresh token."""
    by_either = RefreshToken.objects.filter(application=application)
    for held in (
        by_either.filter(token_checksum=checksum),
        by_either.filter(access_token__token_checksum=checksum),
    ):
        for family in set(held.values_list("token_family", flat=True)):
            end_token_family(token_family=family)
    AccessToken.objects.filter(token_checksum=checksum, application=application).delete()


def retention_rules() -> list[RetentionRule]:
    """Removes rows that can never be used again.

    An access token stays, expired, beside a refresh token that still lives: it holds the scopes. A spent refresh
    token is kept as long as its family may live, so that its reuse is noticed.
    """
    return [
        rule_for_rows(
            "spent refresh tokens", lambda: RefreshToken.objects.filter(revoked__lte=_oldest_sign_in())
        ),
        rule_for_rows(
            "idle refresh tokens",
            lambda: RefreshToken.objects.filter(
                revoked__isnull=True, access_token__expires__lte=timezone.now() - _idle()
            ),
        ),
        rule_for_rows(
            "orphaned refresh tokens",
            lambda: RefreshToken.objects.filter(revoked__isnull=True, access_token__isnull=True),
        ),
        rule_for_rows(
            "access tokens",
            lambda: AccessToken.objects.filter(expires__lte=timezone.now(), refresh_token__isnull=True),
        ),
        rule_for_rows("authorization codes", lambda: Grant.objects.filter(expires__lte=timezone.now())),
        rule_for_rows("used codes", lambda: UsedCode.objects.filter(expires__lte=timezone.now())),
    ]


def _oldest_sign_in() -> datetime:
    return timezone.now() - settings.REFRESH_TOKEN_MAXIMUM_AGE


def _idle() -> timedelta:
    return timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)


def _end_everything(**owner: Any) -> None:
    # Codes first: this waits for concurrent redemptions, so that the next statements see their tokens.
    Grant.objects.filter(**owner).delete()
    _end_refresh_tokens(**owner)
    AccessToken.objects.filter(**owner).delete()


def _end_refresh_tokens(**which: Any) -> None:
    """Repeats until none is left, because a concurrent rotation creates a token that one pass cannot see."""
    living = RefreshToken.objects.filter(revoked__isnull=True, **which)
    while living.exists():
        # In key order, so that two runs do not deadlock.
        rows = list(living.select_for_update().order_by("pk").values_list("pk", "access_token_id"))
        now: datetime = timezone.now()
        RefreshToken.objects.filter(pk__in=[pk for pk, _ in rows]).update(
            revoked=now, updated=now, access_token=None
        )
        AccessToken.objects.filter(pk__in=[token for _, token in rows if token]).delete()
