"""Revokes codes and tokens, with effect at commit, and issues tokens for one API request of a signed-in user."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken, set_token_value
from oauth2_provider.settings import oauth2_settings

from accounts.callers import Caller
from accounts.models import Role, User
from accounts.permissions import DEFAULT_SCOPES, Permission
from accounts.selectors.users import find_subscription, subscription_keys
from applications.oauth.models import UsedCode
from applications.oauth.tokens import generate_access_token, token_checksum
from applications.registration.models import Application
from applications.registration.services.applications import ensure_api_console
from applications.registration.services.owners import remove_person
from fulfillment.core.audit.personal_data import PersonalData
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from fulfillment.core.errors import Conflict
from fulfillment.core.text import JsonObject, timestamp

# How long the token for one request is valid.
LIFETIME = timedelta(minutes=2)
# The number of applications that a refusal lists.
SHOWN = 5


@transaction.atomic
def revoke_tokens(**owner: User | Application) -> None:
    """Ends every code, token and refresh family of a `user`, of an `application`, or that one gave the other."""
    # Codes first: this waits for concurrent redemptions, so that the next statements see their tokens.
    Grant.objects.filter(**owner).delete()
    _end_refresh_tokens(**owner)
    AccessToken.objects.filter(**owner).delete()


@transaction.atomic
def revoke_token_family(*, token_family: UUID | None) -> None:
    """Ends all tokens that descend from one sign-in."""
    if token_family is not None:
        _end_refresh_tokens(token_family=token_family)


@transaction.atomic
def revoke_code_tokens(*, digest: str, application: Application) -> None:
    """Ends the tokens of a reused authorization code. Unknown codes are ignored."""
    used_code = UsedCode.objects.filter(digest=digest, application=application).first()
    if used_code is not None:
        revoke_token_family(token_family=used_code.token_family)
        AccessToken.objects.filter(
            token_checksum=used_code.access_token_checksum, application=application
        ).delete()


@transaction.atomic
def revoke_stored_token(*, checksum: str, application: Application) -> None:
    """Revocation by the client (RFC 7009): ends the token's family, even for a rotated refresh token."""
    by_either = RefreshToken.objects.filter(application=application)
    for queryset in (
        by_either.filter(token_checksum=checksum),
        by_either.filter(access_token__token_checksum=checksum),
    ):
        for family in set(queryset.values_list("token_family", flat=True)):
            revoke_token_family(token_family=family)
    AccessToken.objects.filter(token_checksum=checksum, application=application).delete()


def retention_rules() -> list[RetentionRule]:
    """Removes rows that can never be used again.

    An access token stays, expired, beside a refresh token that still lives: it holds the scopes. A spent refresh
    token is kept as long as its family may live, so that its reuse is noticed.
    """
    idle = timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
    return [
        rule_for_rows(
            "spent refresh tokens",
            lambda: RefreshToken.objects.filter(
                revoked__lte=timezone.now() - settings.REFRESH_TOKEN_MAXIMUM_AGE
            ),
        ),
        rule_for_rows(
            "idle refresh tokens",
            lambda: RefreshToken.objects.filter(
                revoked__isnull=True, access_token__expires__lte=timezone.now() - idle
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


def issue_access_token(
    *, user: User | None, application: Application, scopes: Iterable[str], lifetime: timedelta
) -> str:
    """Issues a token without a sign-in, for the demo and tests; without a user it is the application's own."""
    value = generate_access_token(None)
    token = AccessToken(
        user=user, application=application, scope=" ".join(scopes), expires=timezone.now() + lifetime
    )
    set_token_value(token, value)
    token.save()
    return value


@contextmanager
def credentials_for_one_request(
    *, user: User, application: Application | None, scopes: Iterable[str]
) -> Iterator[dict[str, str]]:
    """The two headers, as the application on its own, or without one as the user through the reference itself.

    The token ends with the block; should the process die within it, two minutes later.
    """
    requested = {*DEFAULT_SCOPES, *scopes}
    if application is not None or not user.is_operator:
        requested.discard(Permission.OPERATOR)
    token = issue_access_token(
        user=None if application else user,
        application=application or ensure_api_console(),
        scopes=sorted(requested),
        lifetime=LIFETIME,
    )
    headers = {"Authorization": f"Bearer {token}"}
    subscription = find_subscription(application=application) if application else find_subscription(user=user)
    if subscription:
        headers["Ocp-Apim-Subscription-Key"] = subscription_keys(subscription).get("primary", "")
    try:
        yield headers
    finally:
        AccessToken.objects.filter(token_checksum=token_checksum(token)).delete()


def personal_data() -> list[PersonalData]:
    return [PersonalData("authorizations", _read_authorizations, lambda user: revoke_tokens(user=user))]


def hand_over_applications(*, user: User, disable: bool) -> None:
    """Passes each application to another owner; disables one without. Raises Conflict for that, unless `disable`."""
    roles = Role.objects.filter(user=user, application__isnull=False, store__isnull=True)
    owned = Application.objects.filter(Q(user=user) | Q(pk__in=roles.values("application")))
    alone = []
    for application in owned.order_by("pk"):
        try:
            remove_person(caller=Caller(user_id=user.pk), application=application, user_id=user.pk)
        except Conflict:
            alone.append(application)
    if alone and not disable:
        raise Conflict(_last_owner_of(alone), code="last_owner")
    for application in alone:
        if application.is_enabled:
            application.is_enabled = False
            application.save(update_fields=["is_enabled", "updated"])
            revoke_tokens(application=application)


def _last_owner_of(applications: list[Application]) -> str:
    names = ", ".join(f"{application.name} ({application.pk})" for application in applications[:SHOWN])
    remainder = f" and {len(applications) - SHOWN} more" if len(applications) > SHOWN else ""
    return f"This is the last owner of {names}{remainder}; invite another owner first."


def _read_authorizations(user: User) -> Iterator[JsonObject]:
    for token in AccessToken.objects.filter(user=user).order_by("created"):
        yield {
            "ApplicationID": str(token.application_id),
            "Scope": token.scope,
            "Created": timestamp(token.created),
            "Expires": timestamp(token.expires),
        }
