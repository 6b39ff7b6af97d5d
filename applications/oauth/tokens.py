import secrets
from typing import Any


def generate_access_token(request: Any, *args: Any, **kwargs: Any) -> str:
    """A prefix by which secret scanners know the token, and 256 random bits."""
    return "sfa_" + secrets.token_urlsafe(32)


def generate_refresh_token(request: Any, *args: Any, **kwargs: Any) -> str:
    return "sfr_" + secrets.token_urlsafe(32)
