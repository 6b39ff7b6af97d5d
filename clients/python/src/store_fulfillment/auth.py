"""Access tokens: fetched, kept and renewed."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from store_fulfillment.errors import ConnectionFailed, OAuthError, object_of

# Renewed this long before its end, so that it does not expire during a request.
EARLY = 30.0
# The longest that signing out waits for an unreachable service.
REVOCATION_SECONDS = 10.0
SIGN_IN_SECONDS = 30.0
YEAR = 31_536_000
VISIBLE = re.compile(r"[\x21-\x7e]+")
METADATA = "/.well-known/oauth-authorization-server"


@dataclass(frozen=True)
class Tokens:
    """`expires_at` is in seconds since 1970. Only the command line's own application gets a `subscription_key`."""

    access_token: str
    expires_at: float
    refresh_token: str | None = None
    scope: str = ""
    subscription_key: str | None = None

    @property
    def is_fresh(self) -> bool:
        return time.time() < self.expires_at - EARLY


@dataclass
class ClientCredentials:
    """An application by itself: its External_ID and one of its keys."""

    client_id: str
    client_secret: str
    scopes: Sequence[str] = ()
    tokens: Tokens | None = None

    def form(self) -> dict[str, str] | None:
        scope = {"scope": " ".join(self.scopes)} if self.scopes else {}
        return {"grant_type": "client_credentials", **scope}

    def keep(self, tokens: Tokens) -> None:
        self.tokens = tokens


@dataclass
class Person:
    """A person who signed in through an application: see `start_sign_in`.

    `on_tokens` is called with each new pair. Keep it: a refresh token works once.
    """

    client_id: str
    tokens: Tokens | None
    client_secret: str | None = None
    on_tokens: Callable[[Tokens], None] | None = None

    def form(self) -> dict[str, str] | None:
        if self.tokens is None or self.tokens.refresh_token is None:
            return None
        return {"grant_type": "refresh_token", "refresh_token": self.tokens.refresh_token}

    def keep(self, tokens: Tokens) -> None:
        earlier = self.tokens.refresh_token if self.tokens else None
        self.tokens = tokens if tokens.refresh_token else replace(tokens, refresh_token=earlier)
        if self.on_tokens:
            self.on_tokens(self.tokens)


@dataclass
class AccessToken:
    """A token from elsewhere; it is not renewed."""

    token: str
    client_id: str = ""
    client_secret: str | None = None

    @property
    def tokens(self) -> Tokens:
        return Tokens(self.token, float("inf"))

    def form(self) -> dict[str, str] | None:
        return None

    def keep(self, tokens: Tokens) -> None:
        raise OAuthError("invalid_token", "An access token from elsewhere cannot be renewed.")


Credentials = ClientCredentials | Person | AccessToken


def token_request(
    base_url: str,
    client_id: str,
    client_secret: str | None,
    form: dict[str, str],
    path: str = "/oauth/token",
) -> httpx.Request:
    """A confidential client proves itself by HTTP Basic, a public one names itself."""
    body = form if client_secret else {**form, "client_id": client_id}
    headers = {"Accept": "application/json"}
    if client_secret:
        # RFC 6749, 2.3.1: both are encoded as in a form first.
        pair = urlencode({client_id: client_secret}).replace("=", ":", 1)
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return httpx.Request("POST", f"{base_url}{path}", data=body, headers=headers)


def tokens_of(response: httpx.Response) -> Tokens:
    """The tokens that were answered to `token_request`."""
    text = object_of(response)
    token = text.get("access_token")
    # No header takes other characters.
    if response.status_code != 200 or not isinstance(token, str) or not VISIBLE.fullmatch(token):
        code = str(text.get("error") or f"status {response.status_code}")
        raise OAuthError(code, str(text.get("error_description", "")))
    seconds = text.get("expires_in")
    ends = time.time() + (max(0, min(seconds, YEAR)) if isinstance(seconds, int) else 3600)
    names = ("refresh_token", "scope", "subscription_key")
    refresh, scope, key = (found if isinstance(found := text.get(name), str) else None for name in names)
    return Tokens(token, ends, refresh, scope or "", key)


def revoke_tokens(base_url: str, client_id: str, client_secret: str | None, tokens: Tokens) -> None:
    """Ends a sign-in at the service, with all tokens that came from it (RFC 7009)."""
    form = {"token": tokens.refresh_token or tokens.access_token}
    request = token_request(safe_address(base_url), client_id, client_secret, form, "/oauth/revoke")
    response = _send(request, REVOCATION_SECONDS)
    if response.status_code != 200:
        code = str(object_of(response).get("error") or f"status {response.status_code}")
        raise OAuthError(code, "The service did not end the sign-in.")


def _send(request: httpx.Request, timeout: float) -> httpx.Response:
    try:
        with httpx.Client(timeout=timeout) as client:
            return client.send(request)
    except httpx.HTTPError as error:
        raise ConnectionFailed(f"{request.method} {request.url}: {error or type(error).__name__}") from error


@dataclass(frozen=True)
class SignIn:
    """A sign-in under way: send the person to `url`, keep the rest for `finish_sign_in` (PKCE, RFC 7636)."""

    url: str
    state: str
    verifier: str
    redirect_uri: str
    client_id: str
    base_url: str
    issuer: str
    names_issuer: bool = True


def safe_address(base_url: str, *, allow_http: bool = False) -> str:
    """The address without slashes at its end; raises ValueError where secrets would cross a network in clear."""
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"The address of the service starts with http:// or https://, not {base_url!r}.")
    is_allowed = allow_http or os.environ.get("FULFILLMENT_ALLOW_HTTP") == "1"
    if parts.scheme == "http" and not is_allowed and not _is_loopback(parts.hostname or ""):
        raise ValueError(
            f"{base_url} would send keys and tokens in clear: use https://. On a network of your own, "
            "pass allow_http=True or set FULFILLMENT_ALLOW_HTTP=1."
        )
    return base_url.rstrip("/")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def start_sign_in(
    base_url: str, client_id: str, redirect_uri: str, scopes: Sequence[str] = (), *, allow_http: bool = False
) -> SignIn:
    base_url = safe_address(base_url, allow_http=allow_http)
    metadata = _metadata(base_url)
    state, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        **({"scope": " ".join(scopes)} if scopes else {}),
    }
    url = f"{metadata['authorization_endpoint']}?{urlencode(query)}"
    names_issuer = bool(metadata.get("authorization_response_iss_parameter_supported"))
    return SignIn(url, state, verifier, redirect_uri, client_id, base_url, metadata["issuer"], names_issuer)


def _metadata(base_url: str) -> dict[str, Any]:
    """Raises OAuthError unless it is of this very service (RFC 8414, 3.3).

    Else a false service could send the person to the sign-in of a true one, and take the code that comes back.
    """
    response = _send(httpx.Request("GET", base_url + METADATA), SIGN_IN_SECONDS)
    metadata = object_of(response)
    if response.status_code != 200 or not metadata:
        raise OAuthError(
            "server_error", f"The service responded with {response.status_code} instead of its metadata."
        )
    for name in ("issuer", "authorization_endpoint"):
        if origin(str(metadata.get(name, ""))) != origin(base_url):
            message = f"{base_url} names {metadata.get(name)!r} as its {name}; use the address of the service itself."
            raise OAuthError("invalid_issuer", message)
    return metadata


def origin(url: str) -> tuple[str, str]:
    """The scheme and the host with its port."""
    parts = urlsplit(url)
    host, usual = parts.netloc.lower(), {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    return parts.scheme, host.removesuffix(usual) if usual else host


def finish_sign_in(sign_in: SignIn, address: str, client_secret: str | None = None) -> Tokens:
    """The tokens for the address to which the browser was sent back."""
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    # RFC 9207: refuses responses of other servers, and of a server that names itself always and did not here.
    issuer = parameters.get("iss", None if sign_in.names_issuer else sign_in.issuer)
    if parameters.get("state") != sign_in.state or issuer != sign_in.issuer:
        raise OAuthError("invalid_state", "This address does not belong to the sign-in that you started.")
    if "error" in parameters:
        raise OAuthError(parameters["error"], parameters.get("error_description", ""))
    if "code" not in parameters:
        raise OAuthError("invalid_request", "The address contains no code.")
    form = {
        "grant_type": "authorization_code",
        "code": parameters["code"],
        "redirect_uri": sign_in.redirect_uri,
        "code_verifier": sign_in.verifier,
    }
    request = token_request(sign_in.base_url, sign_in.client_id, client_secret, form)
    return tokens_of(_send(request, SIGN_IN_SECONDS))
