"""The supported OAuth grants."""

import re
from functools import cache
from typing import Any

from django.conf import settings
from oauth2_provider.scopes import BaseScopes
from oauth2_provider.settings import oauth2_settings
from oauthlib.common import Request
from oauthlib.oauth2 import (
    AuthorizationCodeGrant,
    AuthorizationEndpoint,
    BearerToken,
    ClientCredentialsGrant,
    ImplicitGrant,
    RefreshTokenGrant,
    RevocationEndpoint,
    TokenEndpoint,
)
from oauthlib.oauth2.rfc6749 import errors

from accounts.permissions import DEFAULT_SCOPES, Permission
from applications.oauth.tokens import generate_access_token, generate_refresh_token
from applications.registration.models import Application

S256_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}\Z")


class Server(AuthorizationEndpoint, TokenEndpoint, RevocationEndpoint):
    """Authorization code with PKCE, refresh, client credentials, and implicit where it is allowed."""

    def __init__(self, validator: Any, **ignored: Any) -> None:
        bearer = BearerToken(validator, generate_access_token, lifetime, generate_refresh_token)
        code = AuthorizationCodeGrant(validator, pre_auth=[require_s256])
        AuthorizationEndpoint.__init__(
            self,
            default_response_type="code",
            response_types={"code": code, "token": ImplicitGrant(validator)},
            default_token_type=bearer,
        )
        TokenEndpoint.__init__(
            self,
            default_grant_type="authorization_code",
            grant_types={
                "authorization_code": code,
                "refresh_token": RefreshTokenGrant(validator),
                "client_credentials": ClientCredentialsGrant(validator),
            },
            default_token_type=bearer,
        )
        RevocationEndpoint.__init__(self, validator)


@cache
def server() -> Server:
    return Server(oauth2_settings.OAUTH2_VALIDATOR_CLASS())


def lifetime(request: Request) -> int:
    """The token's lifetime in seconds, shorter for the implicit grant, whose tokens travel in URLs."""
    if request.grant_type is None:
        return int(settings.IMPLICIT_TOKEN_LIFETIME.total_seconds())
    return oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS


def require_s256(request: Request) -> dict[str, Any]:
    """Requires PKCE with S256; without a method RFC 7636 implies `plain`, which is refused."""
    if not request.code_challenge:
        raise errors.MissingCodeChallengeError(request=request)
    if request.code_challenge_method != "S256":
        raise errors.UnsupportedCodeChallengeMethodError(
            "code_challenge_method must be S256.", request=request
        )
    if not S256_CHALLENGE.match(request.code_challenge):
        raise errors.InvalidRequestError(
            "code_challenge must be the 43 characters of a SHA-256 digest in base64url.", request=request
        )
    return {}


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
