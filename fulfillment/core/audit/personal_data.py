"""Personal data of apps: its export and its erasure, also of words in stored texts and JSON."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from django.db.models import F, QuerySet

from fulfillment.core.text import JsonObject

ERASED = "[erased]"


def erase_nothing(user: Any) -> None:
    """Leaves records that hold no personal data and stay when a user is erased."""


@dataclass(frozen=True, slots=True)
class ErasureOptions:
    """Options for consequences beyond the erasure itself."""

    disable_applications: bool = False
    erase_orders: bool = False


@dataclass(frozen=True, slots=True)
class PersonalData:
    """`records` yields JSON objects and holds no secret; `erase` runs in the transaction of the whole erasure."""

    name: str
    records: Callable[[Any], Iterable[JsonObject]]
    erase: Callable[[Any], object] = erase_nothing


def records_of(rows: QuerySet[Any], **columns: str) -> Iterator[JsonObject]:
    """A record of each row, whose members are these columns."""
    yield from rows.values(**{member: F(column) for member, column in columns.items()}).iterator()


def erase_words(value: Any, words: Iterable[str]) -> Any:
    """The JSON value, with each text that contains one of the words replaced completely."""
    lowered = [word.lower() for word in words]
    return _erase_words(value, lowered)


def _erase_words(value: Any, words: list[str]) -> Any:
    if isinstance(value, str):
        # Also URL-encoded, as in tracking URLs.
        texts = (value.lower(), unquote_plus(value).lower())
        return ERASED if any(word in text for word in words for text in texts) else value
    if isinstance(value, dict):
        return {key: _erase_words(part, words) for key, part in value.items()}
    if isinstance(value, list):
        return [_erase_words(part, words) for part in value]
    return value
