"""Erases words from stored texts and JSON."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_plus

ERASED = "[erased]"


def without_words(value: Any, words: Iterable[str]) -> Any:
    """The JSON value, with each text that contains one of the words replaced completely."""
    lowered = [word.lower() for word in words]
    return _without(value, lowered)


def _without(value: Any, words: list[str]) -> Any:
    if isinstance(value, str):
        # Also URL-encoded, as in tracking URLs.
        texts = (value.lower(), unquote_plus(value).lower())
        return ERASED if any(word in text for word in words for text in texts) else value
    if isinstance(value, dict):
        return {key: _without(one, words) for key, one in value.items()}
    if isinstance(value, list):
        return [_without(one, words) for one in value]
    return value
