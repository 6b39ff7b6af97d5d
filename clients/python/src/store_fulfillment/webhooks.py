"""Verifies webhook requests in your endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from standardwebhooks import Webhook, WebhookVerificationError

from store_fulfillment.models import Event

__all__ = ["WebhookVerificationError", "verify_webhook"]


def verify_webhook(secret: str, body: bytes | str, headers: Mapping[str, str]) -> Event:
    """The event, if its signature is of this secret and not older than five minutes.

    `body` are the very bytes that came. Anything else raises `WebhookVerificationError`.
    """
    verifier = Webhook(secret)
    try:
        text = body if isinstance(body, str) else body.decode()
        verifier.verify(text, {name.lower(): value for name, value in headers.items()})
    except (ValueError, TypeError, OverflowError) as error:
        # Not UTF-8, or a signature that is not of the form v1,BASE64: the endpoint answers 400 for these as well.
        raise WebhookVerificationError("The request is not signed as webhooks are") from error
    return cast("Event", json.loads(text))
