"""Client for the Store Fulfillment API."""

from store_fulfillment._paging import AsyncPages, Page, Pages
from store_fulfillment._retries import Retries
from store_fulfillment._transport import AsyncDownload, Download, etag_of, headers_of
from store_fulfillment._version import __version__
from store_fulfillment.auth import (
    AccessToken,
    ClientCredentials,
    Person,
    SignIn,
    Tokens,
    finish_sign_in,
    revoke_tokens,
    start_sign_in,
)
from store_fulfillment.client import AsyncClient, Client
from store_fulfillment.errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    Fault,
    Forbidden,
    FulfillmentError,
    InvalidRequest,
    NotFound,
    OAuthError,
    PreconditionFailed,
    RateLimited,
    ServerError,
    TimedOut,
    Unauthorized,
)
from store_fulfillment.webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "AccessToken",
    "ApiError",
    "AsyncClient",
    "AsyncDownload",
    "AsyncPages",
    "Client",
    "ClientCredentials",
    "Conflict",
    "ConnectionFailed",
    "Download",
    "Fault",
    "Forbidden",
    "FulfillmentError",
    "InvalidRequest",
    "NotFound",
    "OAuthError",
    "Page",
    "Pages",
    "Person",
    "PreconditionFailed",
    "RateLimited",
    "Retries",
    "ServerError",
    "SignIn",
    "TimedOut",
    "Tokens",
    "Unauthorized",
    "WebhookVerificationError",
    "__version__",
    "etag_of",
    "finish_sign_in",
    "headers_of",
    "revoke_tokens",
    "start_sign_in",
    "verify_webhook",
]
