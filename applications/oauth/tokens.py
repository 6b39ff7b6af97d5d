"""Makes tokens, and stores them as digests, never their values."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from oauth2_provider.models import AccessToken, RefreshToken, set_token_value
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749 import errors


def generate_access_token(request: Any, *args: Any, **kwargs: Any) -> str:
    """A prefix that secret scanners recognise, and 256 random bits."""
    return "sfa_" + secrets.token_urlsafe(32)


def generate_refresh_token(request: Any, *args: Any, **kwargs: Any) -> str:
    return "sfr_" + secrets.token_urlsafe(32)


def token_checksum(value: str) -> str:
    """What is stored of a token or a code, by which it is found."""
    return hashlib.sha256(value.encode()).hexdigest()


def token_resources(request: Request, granted: list[str]) -> list[str]:
    """The resources the token is for (RFC 8707): of those granted, the ones requested now, or all."""
    requested = [value for name, value in request.decoded_body or [] if name == "resource"]
    requested = requested or getattr(request, "resources", [])
    require_known_resources(requested, request)
    if granted and not set(requested) <= set(granted):
        raise errors.CustomOAuth2Error("invalid_target", "The resource was not granted.", request=request)
    return list(dict.fromkeys(requested)) or granted


def require_known_resources(resources: list[str], request: Request) -> None:
    if not set(resources) <= {settings.PUBLIC_URL, settings.API_URL}:
        raise errors.CustomOAuth2Error(
            "invalid_target", f"The only resource served here is {settings.API_URL}.", request=request
        )


def store_access_token(
    token: dict[str, Any], request: Request, user_id: UUID | None, resources: list[str]
) -> AccessToken:
    stored = AccessToken(
        user_id=user_id,
        application=request.client,
        scope=token["scope"],
        expires=timezone.now() + timedelta(seconds=token["expires_in"]),
        resource=resources,
    )
    set_token_value(stored, token["access_token"])
    stored.save(force_insert=True)
    return stored


def store_refresh_token(
    token: dict[str, Any], request: Request, access_token: AccessToken, family: UUID, resources: list[str]
) -> None:
    stored = RefreshToken(
        user_id=access_token.user_id,
        application=request.client,
        access_token_id=access_token.pk,
        token_family=family,
        resource=resources,
    )
    set_token_value(stored, token["refresh_token"])
    stored.save(force_insert=True)
