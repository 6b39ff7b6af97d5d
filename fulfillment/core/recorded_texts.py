"""Texts that are the same for programs and for every reader: kept, or raised, in English.

A page translates them where it shows them. Their messages stand in the catalogs under a context of their own, with a
name for each value; a text is known by the words around its values. `make messages` reads them off the sources.
"""

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import get_language, pgettext
from django.utils.translation.trans_real import translation

CONTEXT = "recorded"
_VALUE = re.compile(r"%\((\w+)\)s")
_DECIMAL = re.compile(r"\b\d+\.\d+(?= (?:mm|pt|%|: 1))")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z“])")


def translated(text: object) -> str:
    """In the reader's language; what no catalog has stays as it is."""
    language = get_language() or "en"
    return str(text) if language.startswith("en") or not text else _translated(str(text), language)


@lru_cache(maxsize=10_000)
def _translated(text: str, language: str) -> str:
    if (whole := pgettext(CONTEXT, text)) != text:
        return whole
    for pattern, message in _patterns(language):
        if found := pattern.fullmatch(text):
            values = {
                name: _translated(_numbers(value), language) for name, value in found.groupdict().items()
            }
            return pgettext(CONTEXT, message) % values
    sentences = _BETWEEN_SENTENCES.split(text)
    return text if len(sentences) == 1 else " ".join(_translated(one, language) for one in sentences)


def _numbers(text: str) -> str:
    """With the reader's decimal sign before a unit."""
    return _DECIMAL.sub(lambda found: number_format(Decimal(found[0])), text)


@lru_cache(maxsize=16)
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Of the messages with values; those with more words of their own come first."""
    catalog: Any = translation(language)._catalog  # type: ignore[attr-defined]  # noqa: SLF001 - its keys are found nowhere else
    start, keys = f"{CONTEXT}\x04", catalog.keys()
    found = [key.removeprefix(start) for key in keys if isinstance(key, str) and key.startswith(start)]
    filled = [message for message in found if _VALUE.search(message)]
    return [(_pattern(message), message) for message in sorted(filled, key=_own_length, reverse=True)]


def _pattern(message: str) -> re.Pattern[str]:
    parts = _VALUE.split(message)
    parts[::2] = [re.escape(part.replace("%%", "%")) for part in parts[::2]]
    parts[1::2] = [f"(?P<{name}>.+?)" for name in parts[1::2]]
    return re.compile("".join(parts), re.DOTALL)


def _own_length(message: str) -> int:
    return len(_VALUE.sub("", message))
