"""Client authentication by HTTP Basic or by the form, never both (RFC 6749, section 2.3)."""

import base64
import binascii
import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

from oauthlib.common import Request
from oauthlib.oauth2.rfc6749 import errors

BASIC = re.compile(r"[Bb][Aa][Ss][Ii][Cc] +([A-Za-z0-9+/]+={0,2})\Z")


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
            "The Authorization header must hold Basic credentials.", request=request
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
