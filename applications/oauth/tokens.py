import secrets
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils import timezone


def generate_access_token(request: Any, *args: Any, **kwargs: Any) -> str:
    """A prefix that secret scanners recognise, and 256 random bits."""
    return "sfa_" + secrets.token_urlsafe(32)


def generate_refresh_token(request: Any, *args: Any, **kwargs: Any) -> str:
    return "sfr_" + secrets.token_urlsafe(32)


def new_token_family() -> UUID:
    """A UUID of version 7: it carries the time of the sign-in, which outlives the rows of the first tokens."""
    milliseconds = int(timezone.now().timestamp() * 1000)
    return UUID(
        int=milliseconds << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    )


def started_at(token_family: UUID | None) -> datetime | None:
    """When the first tokens of the family were issued; None if the identifier holds no time."""
    if token_family is None or token_family.version != 7:
        return None
    return datetime.fromtimestamp((token_family.int >> 80) / 1000, tz=UTC)
