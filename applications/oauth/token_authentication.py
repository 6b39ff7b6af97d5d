"""Checks the two credential headers of a request with one prepared statement."""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple
from uuid import UUID

import pghistory
from django.conf import settings
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from accounts import rate_limits
from accounts.callers import Caller
from accounts.permissions import add_implied
from accounts.rate_limits import RateLimitStatus
from applications.oauth.tokens import token_checksum
from fulfillment.core.api.access import Access
from fulfillment.core.api.errors import Unauthorized, bearer_challenge
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.http.head_limits import MAX_LENGTHS
from fulfillment.core.secrets import digests

BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9\-._~+/]{1,512}=*)\Z")
MAX_KEY_LENGTH = 512
MAX_AUTHORIZATION_LENGTH = MAX_LENGTHS["HTTP_AUTHORIZATION"]
MISSING_KEY = (
    "Access denied due to missing subscription key. "
    "Make sure to include subscription key when making requests to an API."
)
INVALID_KEY = (
    "Access denied due to invalid subscription key. "
    "Make sure to provide a valid key for an active subscription."
)

# One row for a known token, with the subscription that answers for the call. While the address of the user, or of the
# application's owner, is not confirmed, that of the person who made the account is counted instead: making accounts
# and applications of theirs multiplies no limit. `person` is the user or, for a token without one, that owner.
CREDENTIALS = """
SELECT token.expires, token.scope, nullif(token.resource, '[]') AS resources, token.user_id, token.application_id,
       application.is_enabled, application.is_first_party, person.is_active,
       token.user_id IS NOT NULL AND person.is_operator AS is_operator,
       CASE WHEN token.user_id IS NOT NULL THEN person.tenant_id END AS tenant_id, person.two_factor_since,
       application.is_test, subscription.id AS subscription_id, coalesce(counting.user_id, person.id) AS person_id,
       coalesce(counting.requests_per_minute, subscription.requests_per_minute) AS requests_per_minute,
       {bucket} AS bucket
FROM oauth2_provider_accesstoken token
JOIN applications_application application ON application.id = token.application_id
LEFT JOIN accounts_user person ON person.id = coalesce(token.user_id, application.user_id)
LEFT JOIN LATERAL ({subscription} LIMIT 1) subscription ON true
LEFT JOIN accounts_subscription counting
    ON counting.user_id = person.counted_on_id AND person.email_confirmed IS NULL
WHERE token.token_checksum = %(checksum)s
"""
COUNTED_ON = "'subscription:' || coalesce(counting.id, subscription.id)"
# The subscription of the key, if it belongs to the token's user or application. Both are compared by IS TRUE, so that
# PostgreSQL begins with the key, of which there is one, and not with the subscriptions of both.
OF_KEY = """
    SELECT owned.id, owned.requests_per_minute
    FROM accounts_subscriptionkey key JOIN accounts_subscription owned ON owned.id = key.subscription_id
    WHERE key.digest IN ({digests})
      AND ((owned.user_id = token.user_id) IS TRUE OR (owned.application_id = token.application_id) IS TRUE)"""
# Without a key that of the owner: leaving the key out evades no limit.
OF_OWNER = """
    SELECT owned.id, owned.requests_per_minute FROM accounts_subscription owned WHERE owned.user_id = token.user_id
    UNION ALL
    SELECT owned.id, owned.requests_per_minute FROM accounts_subscription owned
    WHERE token.user_id IS NULL AND owned.application_id = token.application_id"""
# Reads the token and counts the request in one round trip.
COUNTED = "WITH known AS ({credentials}), counted AS ({count}) SELECT * FROM known LEFT JOIN counted ON true"
# A cheap check whether a token exists; counts nothing.
KNOWN = """
SELECT 1 FROM oauth2_provider_accesstoken
WHERE token_checksum = %(checksum)s AND expires > statement_timestamp()
"""


class CredentialRow(NamedTuple):
    """A row of COUNTED. `used` and `resets_in` are null for a key that is refused: its request is not counted."""

    expires: datetime
    scope: str
    resources: list[str] | None
    user_id: UUID | None
    application_id: UUID
    is_enabled: bool
    is_first_party: bool
    is_active: bool | None
    is_operator: bool | None
    tenant_id: int | None
    two_factor_since: datetime | None
    is_test: bool
    subscription_id: int | None
    person_id: UUID | None
    requests_per_minute: int | None
    bucket: str | None
    used: int
    resets_in: float


class TokenAuthentication(BaseAuthentication):
    """Reads headers only, before any body. Checks in a fixed order: key missing, token, key invalid."""

    def authenticate(self, request: Request) -> tuple[Caller, Caller]:
        key = request.META.get("HTTP_OCP_APIM_SUBSCRIPTION_KEY", "").strip()
        if not key and _is_key_required(request):
            raise _refuse_key(MISSING_KEY, "subscription_key_missing")
        if len(key) > MAX_KEY_LENGTH:
            raise _refuse_key(INVALID_KEY, "subscription_key_invalid")
        caller, limit_status = caller_of(request.META.get("HTTP_AUTHORIZATION", ""), key)
        # Stored on Django's request, where the middleware reads both, also for refused calls.
        django_request = request._request  # noqa: SLF001
        django_request.auth, django_request.rate_limit_status = caller, limit_status
        if limit_status.is_exceeded:
            raise rate_limits.refusal(limit_status)
        if request.method not in SAFE_METHODS:
            pghistory.context(user=caller.user_id, application=caller.application_id)
        return caller, caller

    def authenticate_header(self, request: Request) -> str:
        return bearer_challenge()


def is_token_known(authorization: str) -> bool:
    match = BEARER.match(authorization) if len(authorization) <= MAX_AUTHORIZATION_LENGTH else None
    return match is not None and fetch_row(KNOWN, {"checksum": token_checksum(match[1])}) is not None


def caller_of(authorization: str, key: str) -> tuple[Caller, RateLimitStatus]:
    """The caller, and the rate limit status after this request was counted."""
    if not authorization:
        raise Unauthorized(
            "The Authorization header is missing. Get an access token at /oauth/token and send it as: "
            "Authorization: Bearer <access token>.",
            code="token_missing",
            challenges=[bearer_challenge()],
        )
    match = BEARER.match(authorization)
    if match is None:
        raise _refuse_token("The Authorization header must read: Bearer <access token>.")
    keys = digests(key) if key else []
    row = fetch_row(
        _make_statement(len(keys)), {"checksum": token_checksum(match[1])} | _key_parameters(keys)
    )
    if row is None:
        raise _refuse_token(_why_unknown(match[1]))
    credentials = CredentialRow(*row)
    caller = _validate(credentials, is_key_sent=bool(key))
    quota = credentials.requests_per_minute or settings.REQUESTS_PER_MINUTE
    return caller, RateLimitStatus(rate_limits.SUBSCRIPTION, quota, credentials.used, credentials.resets_in)


@cache
def _make_statement(keys: int) -> str:
    """The statement for a key with so many digests, one for each pepper in use; 0 where no key was sent."""
    if keys:
        subscription = OF_KEY.format(
            digests=", ".join(f"%({name})s" for name in _key_parameters(range(keys)))
        )
        bucket = f"CASE WHEN subscription.id IS NOT NULL THEN {COUNTED_ON} END"
    else:
        subscription = OF_OWNER
        bucket = f"coalesce({COUNTED_ON}, 'caller:' || coalesce(token.user_id, token.application_id))"
    return COUNTED.format(
        credentials=CREDENTIALS.format(bucket=bucket, subscription=subscription),
        count=rate_limits.COUNT_ROW.format(source="known"),
    )


def _key_parameters(values: Iterable[Any]) -> dict[str, Any]:
    return {f"key{number}": value for number, value in enumerate(values)}


def _why_unknown(token: str) -> str:
    """Checks the prefix alone, which reveals nothing about existing tokens."""
    if token.startswith("sfk_"):
        return "This is a key of an application, not an access token: exchange it for one at /oauth/token."
    if token.startswith("sfs_"):
        return "This is a subscription key, not an access token: send it in the header Ocp-Apim-Subscription-Key."
    return "The access token is unknown or was revoked."


def _validate(row: CredentialRow, *, is_key_sent: bool) -> Caller:
    _validate_token(row)
    if is_key_sent and row.subscription_id is None:
        raise _refuse_key(INVALID_KEY, "subscription_key_invalid")
    return Caller(
        user_id=row.user_id,
        tenant_id=row.tenant_id,
        is_operator_user=bool(row.is_operator),
        application_id=row.application_id,
        is_first_party=row.is_first_party,
        is_test=row.is_test,
        scopes=_parse_scopes(row.scope),
        subscription_id=row.subscription_id,
        person_id=row.person_id,
    )


def _validate_token(row: CredentialRow) -> None:
    if row.expires <= timezone.now():
        raise _refuse_token("The access token has expired.")
    if not row.is_enabled:
        raise _refuse_token("The application of this access token is disabled.")
    if row.user_id is not None and not row.is_active:
        raise _refuse_token("The user of this access token is inactive.")
    if row.resources and {settings.PUBLIC_URL, settings.API_URL}.isdisjoint(row.resources):
        raise _refuse_token("The access token was issued for another resource.")
    if row.is_operator and row.two_factor_since is None and settings.OPERATOR_TWO_FACTOR == "required":
        raise _refuse_token("The operator of this access token must first set up two-factor authentication.")


@lru_cache(maxsize=1024)
def _parse_scopes(text: str) -> frozenset[str]:
    """Parses scopes, cached by their text."""
    return add_implied(text.split())


def _is_key_required(request: Request) -> bool:
    view = request.parser_context["view"]
    access: Access | None = view.access.get(getattr(view, "action", None) or "")
    return access is None or access.subscription_key_required


def _refuse_token(message: str) -> Unauthorized:
    challenge = bearer_challenge(f', error="invalid_token", error_description="{message}"')
    return Unauthorized(message, code="token_invalid", challenges=[challenge])


def _refuse_key(message: str, code: str) -> Unauthorized:
    challenge = (
        f'AzureApiManagementKey realm="{settings.API_URL}",name="Ocp-Apim-Subscription-Key",type="header"'
    )
    return Unauthorized(message, code=code, challenges=[challenge], gateway_body=True)
