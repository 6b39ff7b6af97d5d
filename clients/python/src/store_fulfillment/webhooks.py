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
    text = body if isinstance(body, str) else body.decode()
    Webhook(secret).verify(text, {name.lower(): value for name, value in headers.items()})
    return cast("Event", json.loads(text))
