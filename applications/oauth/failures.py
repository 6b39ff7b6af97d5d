"""Limits the failures of one address at the token endpoint."""

import json
from dataclasses import dataclass, replace

from django.conf import settings
from django.http import HttpRequest

from accounts import rate_limits
from accounts.rate_limits import RateLimitStatus
from applications.oauth.credentials import decode_basic
from fulfillment.core.client_addresses import bucket_of_address

# Error codes of wrong secrets, codes and refresh tokens.
COUNTED = frozenset({"invalid_client", "invalid_grant"})


# Beyond this multiple of the limit it is an attack: tokens from the address are no longer checked.
FLOOD = 10


def flooding_address(request: HttpRequest) -> RateLimitStatus | None:
    """The rate-limit status of an address far over its limit, without a query."""
    limit_status = rate_limits.cached_rejection(_bucket(request))
    return limit_status if limit_status and limit_status.used > FLOOD * limit_status.quota else None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request of an identified client.

    Secrets have 256 random bits, so the limit does not protect them: it stops broken clients without stopping others
    behind the same address.
    """

    bucket: str
    client_id: str

    @classmethod
    def of(cls, request: HttpRequest, form: list[tuple[str, str]]) -> "Attempt":
        credentials = decode_basic(request.META.get("HTTP_AUTHORIZATION", ""))
        client_id = credentials.client_id if credentials else dict(form).get("client_id", "")
        return cls(_bucket(request), client_id[:64])

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


def _bucket(request: HttpRequest) -> str:
    return f"{rate_limits.TOKEN_FAILURES}:{bucket_of_address(request.META.get('REMOTE_ADDR', ''))}"
