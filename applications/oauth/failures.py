"""How often one address may be refused at the token endpoint in a minute."""

import json
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest

from accounts import rates
from accounts.rates import Standing
from applications.oauth.credentials import decode_basic

# What a wrong secret, code or refresh token is answered with.
COUNTED = frozenset({"invalid_client", "invalid_grant"})


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a client that named itself. Secrets have 256 random bits, so a limit is not what keeps them:
    it tells a broken client to stop, while others behind its address go on."""

    bucket: str
    client_id: str

    @classmethod
    def of(cls, request: HttpRequest, form: list[tuple[str, str]]) -> "Attempt":
        credentials = decode_basic(request.META.get("HTTP_AUTHORIZATION", ""))
        client_id = credentials.client_id if credentials else dict(form).get("client_id", "")
        address = rates.bucket_of_address(request.META.get("REMOTE_ADDR", ""))
        return cls(f"{rates.TOKEN_FAILURES}:{address}", client_id[:64])

    def known_refusal(self) -> Standing | None:
        """Whether this client went on with wrong secrets after its address had run over."""
        return rates.known_refusal(f"{self.bucket} {self.client_id}")

    def judge(self, content: str | None, status: int) -> Standing | None:
        """Counts a refusal; the standing of the address if that was one too many."""
        error = json.loads(content or "{}").get("error") if status in {400, 401} else None
        if error not in COUNTED:
            return None
        standing = rates.known_refusal(self.bucket) or rates.count_request(
            policy=rates.TOKEN_FAILURES, bucket=self.bucket, quota=settings.TOKEN_FAILURES_PER_MINUTE
        )
        if not standing.is_over:
            return None
        if error == "invalid_client":
            rates.remember_refusal(f"{self.bucket} {self.client_id}", standing)
        return standing
