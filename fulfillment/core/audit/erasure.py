"""Words that were erased, and how they are taken out of what is kept."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_plus

ERASED = "[erased]"


def without_words(value: Any, words: Iterable[str]) -> Any:
    """The same JSON value; a text in which one of the words stands is replaced whole."""
    lowered = [word.lower() for word in words]
    return _without(value, lowered)


def _without(value: Any, words: list[str]) -> Any:
    if isinstance(value, str):
        # As it stands, and as it stands in addresses of carriers.
        texts = (value.lower(), unquote_plus(value).lower())
        return ERASED if any(word in text for word in words for text in texts) else value
    if isinstance(value, dict):
        return {key: _without(one, words) for key, one in value.items()}
    if isinstance(value, list):
        return [_without(one, words) for one in value]
    return value
