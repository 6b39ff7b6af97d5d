"""Client authentication by HTTP Basic or by the form, never both (RFC 6749, section 2.3).

Failures of one address at the token endpoint are limited.
"""

import base64
import binascii
import json
import re
from dataclasses import dataclass, replace
from urllib.parse import unquote_plus

from django.conf import settings
from django.http import HttpRequest
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749 import errors

from accounts import rate_limits
from accounts.rate_limits import RateLimitStatus

BASIC = re.compile(r"[Bb][Aa][Ss][Ii][Cc] +([A-Za-z0-9+/]+={0,2})\Z")
# Error codes of wrong secrets, codes and refresh tokens.
COUNTED = frozenset({"invalid_client", "invalid_grant"})
# Beyond this multiple of the limit it is an attack: tokens from the address are no longer checked.
FLOOD = 10


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """Public clients send no secret."""

    client_id: str
    secret: str


def read_credentials(request: Request) -> ClientCredentials:
    header = request.headers.get("Authorization")
    if header is None:
        return ClientCredentials(request.client_id or "", request.client_secret or "")
    if request.client_secret:
        raise errors.InvalidRequestError(
            "The client credentials were sent twice: use either the Authorization header or the form.",
            request=request,
        )
    credentials = decode_basic(header)
    if credentials is None:
        raise errors.InvalidClientError(
            "The Authorization header must contain Basic credentials.", request=request
        )
    if request.client_id and request.client_id != credentials.client_id:
        raise errors.InvalidRequestError(
            "client_id names another client than the Authorization header.", request=request
        )
    return credentials


def decode_basic(header: str) -> ClientCredentials | None:
    match = BASIC.match(header)
    # The decoder accepts any padding.
    if match is None or len(match[1]) % 4:
        return None
    try:
        text = base64.b64decode(match[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    client_id, separator, secret = text.partition(":")
    # Both halves are form-encoded before they are joined (RFC 6749, section 2.3.1).
    return ClientCredentials(unquote_plus(client_id), unquote_plus(secret)) if separator else None


def flooding_address(request: HttpRequest) -> RateLimitStatus | None:
    """The rate-limit status of an address far over its limit, without a query."""
    limit_status = rate_limits.cached_rejection(
        rate_limits.address_bucket(rate_limits.TOKEN_FAILURES, request)
    )
    return limit_status if limit_status and limit_status.used > FLOOD * limit_status.quota else None


@dataclass(frozen=True, slots=True)
class ClientAttempt:
    """A request of an identified client.

    Secrets have 256 random bits, so the limit does not protect them: it stops broken clients without stopping others
    behind the same address.
    """

    bucket: str
    client_id: str

    @classmethod
    def of(cls, request: HttpRequest, form: list[tuple[str, str]]) -> "ClientAttempt":
        credentials = decode_basic(request.META.get("HTTP_AUTHORIZATION", ""))
        client_id = credentials.client_id if credentials else dict(form).get("client_id", "")
        return cls(rate_limits.address_bucket(rate_limits.TOKEN_FAILURES, request), client_id[:64])

    def cached_rejection(self) -> RateLimitStatus | None:
        """The limit status, if this client failed again after its address exceeded the limit."""
        limit_status = rate_limits.cached_rejection(f"{self.bucket} {self.client_id}")
        if limit_status:
            self._count_on()
        return limit_status

    def count_outcome(self, content: str | None, status: int) -> RateLimitStatus | None:
        """Counts a failure; returns the limit status of the address if it is exceeded."""
        error = json.loads(content or "{}").get("error") if status in {400, 401} else None
        if error not in COUNTED:
            return None
        limit_status = self._count_on() or rate_limits.count_request(
            policy=rate_limits.TOKEN_FAILURES, bucket=self.bucket, quota=settings.TOKEN_FAILURES_PER_MINUTE
        )
        if not limit_status.is_exceeded:
            return None
        if error == "invalid_client":
            rate_limits.remember_refusal(f"{self.bucket} {self.client_id}", limit_status)
        return limit_status

    def _count_on(self) -> RateLimitStatus | None:
        """Counts failures beyond the limit, in this process only, for `flooding_address`."""
        limit_status = rate_limits.cached_rejection(self.bucket)
        if limit_status:
            limit_status = replace(limit_status, used=limit_status.used + 1)
            rate_limits.remember_refusal(self.bucket, limit_status)
        return limit_status
