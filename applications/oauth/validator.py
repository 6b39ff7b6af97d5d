"""Validates clients, codes and tokens for django-oauth-toolkit.

Codes and tokens are found by a digest of their value; the values are not stored. A code is claimed and a refresh
token is spent by the very transaction that stores the tokens given for it, so that one of two wins.
"""

import re
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from oauth2_provider.models import Grant
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.settings import oauth2_settings
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749 import errors

from accounts.services.subscriptions import primary_key_of_user
from applications.oauth.credentials import read_credentials
from applications.oauth.models import UsedCode
from applications.oauth.server import is_registered
from applications.oauth.services import revoke_code_tokens, revoke_stored_token, revoke_token_family
from applications.oauth.tokens import (
    store_access_token,
    store_refresh_token,
    token_checksum,
    token_resources,
)
from applications.registration.models import EXTERNAL_ID, Application, ApplicationKey
from applications.registration.services.applications import COMMAND_LINE_ID
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.secrets import digests
from fulfillment.core.uuid7 import new_uuid7, uuid7_time

# Two tabs may refresh at once: within this time a spent refresh token does not end its family.
REUSE_TOLERANCE = timedelta(seconds=10)
CODE_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}\Z")
SPEND_OLD_PAIR = """
WITH spent AS (
    UPDATE oauth2_provider_refreshtoken SET revoked = %s, updated = %s, access_token_id = NULL
    WHERE id = %s AND revoked IS NULL RETURNING id
)
DELETE FROM oauth2_provider_accesstoken WHERE id = %s AND EXISTS (SELECT FROM spent) RETURNING id
"""
HELD = """
SELECT held.id, held.user_id, person.is_active, held.token_family, held.resource, held.created, held.revoked,
       issued.id, issued.expires, issued.scope
FROM oauth2_provider_refreshtoken held
JOIN accounts_user person ON person.id = held.user_id
LEFT JOIN oauth2_provider_accesstoken issued ON issued.id = held.access_token_id
WHERE held.token_checksum = %s AND held.application_id = %s
ORDER BY held.revoked DESC NULLS FIRST LIMIT 1
"""


class HeldToken(NamedTuple):
    """A refresh token as HELD finds it, and the access token given with it while there is one."""

    id: int
    user_id: UUID
    is_user_active: bool
    token_family: UUID | None
    resource: list[str]
    created: datetime
    revoked: datetime | None
    access_token_id: int | None
    expires: datetime
    scope: str


class Validator(OAuth2Validator):
    def client_authentication_required(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        credentials = read_credentials(request)
        request.client_id = credentials.client_id
        if credentials.secret:
            return True
        client = self._load_application(credentials.client_id, request)
        return client is None or client.client_type == Application.CLIENT_CONFIDENTIAL

    def authenticate_client(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        """The secret is the value of any key of the application that is valid now."""
        credentials = read_credentials(request)
        if not credentials.secret or not re.match(EXTERNAL_ID, credentials.client_id):
            return False
        now = timezone.now()
        valid_keys = ApplicationKey.objects.filter(
            application=OuterRef("pk"),
            digest__in=digests(credentials.secret),
            start_date__lte=now,
            end_date__gt=now,
        )
        clients = Application.objects.filter(is_enabled=True, client_id=credentials.client_id)
        client = clients.filter(Exists(valid_keys)).first()
        if client is None:
            return False
        request.client = client
        return True

    def authenticate_client_id(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> bool:
        client = self._load_application(client_id, request)
        return client is not None and client.client_type == Application.CLIENT_PUBLIC

    def _load_application(self, client_id: str | None, request: Request) -> Application | None:
        loaded = request.client
        if isinstance(loaded, Application) and loaded.client_id == client_id:
            return loaded
        request.client = None
        if client_id and re.match(EXTERNAL_ID, client_id):
            request.client = Application.objects.filter(is_enabled=True, client_id=client_id).first()
        return request.client

    def validate_grant_type(
        self,
        client_id: str,
        grant_type: str,
        client: Application,
        request: Request,
        *args: Any,
        **kwargs: Any,
    ) -> bool:
        if grant_type == "client_credentials":
            return client.allows_grant_type(Application.GRANT_CLIENT_CREDENTIALS)
        return grant_type in {"authorization_code", "refresh_token"}

    def validate_response_type(
        self,
        client_id: str,
        response_type: str,
        client: Application,
        request: Request,
        *args: Any,
        **kwargs: Any,
    ) -> bool:
        if response_type not in {"code", "token"}:
            raise errors.UnsupportedResponseTypeError(request=request)
        return response_type == "code" or client.allows_grant_type(Application.GRANT_IMPLICIT)

    def validate_redirect_uri(
        self, client_id: str, redirect_uri: str, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        return is_registered(redirect_uri, request.client.reply_urls)

    def is_pkce_required(self, client_id: str, request: Request) -> bool:
        return True

    def is_origin_allowed(
        self, client_id: str, origin: str, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        return False

    def save_authorization_code(
        self, client_id: str, code: dict[str, str], request: Request, *args: Any, **kwargs: Any
    ) -> None:
        Grant.objects.create(
            application=request.client,
            user=request.user,
            code=token_checksum(code["code"]),
            expires=timezone.now() + timedelta(seconds=oauth2_settings.AUTHORIZATION_CODE_EXPIRE_SECONDS),
            # Empty if the client sent none; then the token request needs none either.
            redirect_uri="" if request.using_default_redirect_uri else request.redirect_uri,
            scope=" ".join(request.scopes),
            code_challenge=request.code_challenge,
            code_challenge_method=request.code_challenge_method,
            resource=request.resources,
        )

    def validate_code(
        self, client_id: str, code: str, client: Application, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        digest = token_checksum(code)
        grant = Grant.objects.select_related("user").filter(code=digest, application=client).first()
        if grant is None:
            revoke_code_tokens(digest=digest, application=client)
            return False
        if grant.is_expired() or not grant.user.is_active or not _is_same_redirect(request, grant, client):
            return False
        if request.code_verifier is not None and not CODE_VERIFIER.match(request.code_verifier):
            return False
        request.grant = grant
        request.user = grant.user
        request.scopes = grant.scope.split()
        return True

    def get_code_challenge(self, code: str, request: Request) -> str | None:
        return request.grant.code_challenge or None

    def get_code_challenge_method(self, code: str, request: Request) -> str | None:
        return request.grant.code_challenge_method or None

    def get_default_redirect_uri(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> str:
        if request.grant_type is not None:
            return "checked with the code"
        return request.client.default_redirect_uri

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: Application, *args: Any, **kwargs: Any
    ) -> bool:
        return True  # validate_code compares it, with everything else that the code is bound to

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Request, *args: Any, **kwargs: Any
    ) -> None:
        """Done by save_bearer_token, in the transaction that stores the tokens."""

    def validate_refresh_token(
        self, refresh_token: str, client: Application, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        row = fetch_row(HELD, [token_checksum(refresh_token), client.pk])
        if row is None:
            return False
        held_token, now = HeldToken(*row), timezone.now()
        if held_token.revoked is not None:
            # A reuse before the first use means that the clock was set back.
            if abs(now - held_token.revoked) >= REUSE_TOLERANCE:
                revoke_token_family(token_family=held_token.token_family)
            return False
        if (
            held_token.access_token_id is None
            or not held_token.is_user_active
            or now >= _refresh_deadline(held_token)
        ):
            return False
        request.spent = held_token
        return True

    def get_original_scopes(self, refresh_token: str, request: Request, *args: Any, **kwargs: Any) -> str:
        return request.spent.scope

    def save_bearer_token(self, token: dict[str, Any], request: Request, *args: Any, **kwargs: Any) -> None:
        if request.grant_type == "authorization_code":
            self._redeem(token, request)
        elif request.grant_type == "refresh_token":
            self._rotate(token, request)
        else:
            user_id = None if request.grant_type == "client_credentials" else request.user.pk
            store_access_token(token, request, user_id, token_resources(request, []))
            return
        if request.client.client_id == COMMAND_LINE_ID:
            is_code = request.grant_type == "authorization_code"
            user_id = request.grant.user_id if is_code else request.spent.user_id
            token["subscription_key"] = primary_key_of_user(user_id=user_id)

    def revoke_token(
        self, token: str, token_type_hint: str, request: Request, *args: Any, **kwargs: Any
    ) -> None:
        revoke_stored_token(checksum=token_checksum(token), application=request.client)

    @transaction.atomic
    def _redeem(self, token: dict[str, Any], request: Request) -> None:
        claimed, _ = Grant.objects.filter(pk=request.grant.pk).delete()
        if not claimed:
            raise errors.InvalidGrantError(request=request)
        # It carries the time of the sign-in, which outlives the rows of the first tokens.
        family = new_uuid7()
        resources = token_resources(request, request.grant.resource)
        access_token = store_access_token(token, request, request.user.pk, resources)
        store_refresh_token(token, request, access_token, family, resources)
        UsedCode.objects.create(
            digest=request.grant.code,
            application=request.client,
            token_family=family,
            access_token_checksum=access_token.token_checksum,
            expires=timezone.now() + settings.REFRESH_TOKEN_MAXIMUM_AGE,
        )

    @transaction.atomic
    def _rotate(self, token: dict[str, Any], request: Request) -> None:
        spent_token, now = request.spent, timezone.now()
        if fetch_row(SPEND_OLD_PAIR, [now, now, spent_token.id, spent_token.access_token_id]) is None:
            raise errors.InvalidGrantError(request=request)
        access_token = store_access_token(
            token, request, spent_token.user_id, token_resources(request, spent_token.resource)
        )
        store_refresh_token(token, request, access_token, spent_token.token_family, spent_token.resource)


def _is_same_redirect(request: Request, grant: Grant, client: Application) -> bool:
    sent_uri = request.redirect_uri or ""
    return sent_uri == grant.redirect_uri or (not grant.redirect_uri and [sent_uri] == client.reply_urls)


def _refresh_deadline(held_token: HeldToken) -> datetime:
    """Idle for too long, or too long after the sign-in, whichever comes first."""
    family = held_token.token_family
    started = (uuid7_time(family) if family else None) or held_token.created
    signed_in = min(held_token.created, started)
    idle = timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
    return min(held_token.expires + idle, signed_in + settings.REFRESH_TOKEN_MAXIMUM_AGE)
