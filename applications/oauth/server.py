"""The supported OAuth grants and scopes, authorization requests, and redirects with their responses."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from django import forms
from django.conf import settings
from django.http import HttpResponse, QueryDict
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

from accounts.models import User
from accounts.permissions import DEFAULT_SCOPES, Permission
from applications.oauth.tokens import generate_access_token, generate_refresh_token, require_known_resources
from applications.registration.models import Application

# RFC 8252, section 7.3: a native application may listen on any port of a loopback IP address, over http.
LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::([1-9][0-9]{0,4}))?((?:[/?].*)?)\Z", re.DOTALL)
S256_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}\Z")
# Everything else in a request is ignored, among it `response_mode`, `prompt` and `approval_prompt`.
PARAMETERS = (
    "client_id",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)


def is_registered(uri: str, registered: Iterable[str]) -> bool:
    """Compares URIs exactly, except for the port of a loopback IP address."""
    candidates = list(registered)
    if uri in candidates:
        return True
    portless = _without_port(uri)
    return portless is not None and portless in {_without_port(candidate) for candidate in candidates}


def add_parameters(uri: str, parameters: Iterable[tuple[str, str]], *, fragment: bool) -> str:
    """The address with an error response and the issuer (RFC 9207) added."""
    query = urlencode([*parameters, ("iss", settings.PUBLIC_URL)])
    if fragment:
        return f"{uri}#{query}"
    separator = "&" if "?" in uri else "?"
    return f"{uri}{separator}{query}"


def add_issuer(location: str) -> str:
    """Adds the issuer to a successful response, which has parameters in its query or fragment."""
    return f"{location}&iss={quote(settings.PUBLIC_URL, safe='')}"


def origin_source(uri: str) -> str:
    """The origin as a source of a Content-Security-Policy, which has no way to write an IPv6 address."""
    parts = urlsplit(uri)
    return f"{parts.scheme}:" if "[" in parts.netloc else f"{parts.scheme}://{parts.netloc}"


def redirect(location: str, *, status: int) -> HttpResponse:
    """Redirects to a checked URI; Django's own redirect refuses long ones."""
    return HttpResponse(status=status, headers={"Location": location, "Cache-Control": "no-store"})


def _without_port(uri: str) -> str | None:
    match = LOOPBACK.match(uri)
    if match is None or int(match[2] or 80) > 65535:
        return None
    return match[1] + match[3]


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


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A valid request; `redirect_uri` is registered for the application."""

    parameters: dict[str, str]
    resources: list[str]
    application: Application
    redirect_uri: str
    scopes: list[str]

    @property
    def needs_consent(self) -> bool:
        """False for first-party applications that prove their identity by a key; a token in a URL is given without."""
        proves_identity = (
            self.application.client_type == Application.CLIENT_CONFIDENTIAL
            and self.parameters["response_type"] != "token"
        )
        is_trusted = self.application.is_first_party and Permission.OPERATOR not in self.scopes
        return not (is_trusted and proves_identity)

    @property
    def needs_confirmation(self) -> bool:
        """Whether its token may do more than what every sign-in at an application gives."""
        reaches_more = self.application.is_first_party or not set(self.scopes) <= set(DEFAULT_SCOPES)
        return self.needs_consent and reaches_more

    def grant(self, user: User) -> str:
        """The redirect URL with the code (or token) for the application."""
        headers, _, _ = server().create_authorization_response(
            f"/oauth/authorize?{urlencode(self.parameters)}",
            scopes=self.scopes,
            credentials={"user": user, "client": self.application, "resources": self.resources},
        )
        return add_issuer(headers["Location"])

    def deny(self) -> str:
        error = errors.AccessDeniedError(state=self.parameters.get("state"))
        return error_location(error, self.redirect_uri, self.parameters["response_type"])


def read_authorization_request(data: QueryDict) -> AuthorizationRequest:
    """Raises OAuth2Error; FatalClientError if no error may be sent to the redirect URI."""
    parameters, resources = _read_parameters(data)
    scopes, details = server().validate_authorization_request(f"/oauth/authorize?{urlencode(parameters)}")
    request: Any = details["request"]
    require_known_resources(resources, request)
    return AuthorizationRequest(
        parameters=parameters,
        resources=resources,
        application=request.client,
        redirect_uri=request.redirect_uri,
        scopes=list(dict.fromkeys(scopes)),
    )


def error_location(error: errors.OAuth2Error, redirect_uri: str, response_type: str | None) -> str:
    return add_parameters(redirect_uri, error.twotuples, fragment=response_type == "token")


def _read_parameters(data: QueryDict) -> tuple[dict[str, str], list[str]]:
    """A parameter without a value counts as not sent, and none may be sent twice (RFC 6749, section 3.1)."""
    parameters = {}
    for name in PARAMETERS:
        values = [value for value in data.getlist(name) if value]
        if len(values) > 1:
            raise errors.InvalidRequestFatalError(f"{name} was sent more than once.")
        if values:
            parameters[name] = values[0]
    resources = " ".join(data.getlist("resource")).split()
    if any("\0" in value for value in [*parameters.values(), *resources]):
        raise errors.InvalidRequestFatalError("A parameter contains a NUL character.")
    return parameters, resources


class ConsentForm(forms.Form):
    """The authorization request as hidden fields of the consent page; `allow` is the pressed button."""

    allow = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in (*PARAMETERS, "resource"):
            self.fields[name] = forms.CharField(required=False, strip=False, widget=forms.HiddenInput())

    @classmethod
    def for_request(cls, authorization_request: AuthorizationRequest) -> "ConsentForm":
        return cls(
            initial={
                **authorization_request.parameters,
                "scope": " ".join(authorization_request.scopes),
                "resource": " ".join(authorization_request.resources),
            },
            auto_id=False,
        )
