"""Web addresses that people, settings and providers give."""

from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

# Parsing normalizes the host in quadratic time: 90,000 marks hold all threads for four seconds.
MAX_LENGTH = 2_048


def web_address(value: str, schemes: Collection[str] = ("https", "http")) -> SplitResult | None:
    """Parses an address with a host; None if it is none."""
    parts = split_url(value)
    return parts if parts and parts.scheme in schemes and parts.hostname else None


def split_url(value: str) -> SplitResult | None:
    """Parses a URL; None if it is invalid, such as one with a port that is no number, or too long."""
    if len(value) > MAX_LENGTH:
        return None
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018 - raises for a port that is none
    except ValueError:
        return None
    return None if any(letter.isspace() for letter in value) else parts
