"""Translates texts that are stored or raised in English, when a page shows them.

Their messages are in the catalogs under a context of their own, with a name for each value. A message is recognized by
the words around its values. `make messages` collects them from the sources.
"""

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import get_language, gettext, pgettext
from django.utils.translation.trans_real import translation

CONTEXT = "recorded"
_VALUE = re.compile(r"%\((\w+)\)s")
_DECIMAL = re.compile(r"\b\d+\.\d+(?=%| (?:mm|pt|: 1))")
_PERCENT = re.compile(r"(?<=\d)%")
# A longer text stays as it is: it has a file or a list in it.
MAX_LENGTH = 2_000
# So does one with more sentences: people wrote it.
MAX_SENTENCES = 20
# Texts within texts are translated to this depth.
MAX_DEPTH = 10
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z“])")


def translated(text: object) -> str:
    """The text in the reader's language; what no catalog has stays as it is."""
    language = get_language() or "en"
    words = str(text)
    if language.startswith("en") or len(words) > MAX_LENGTH:
        return words
    is_long = len(_BETWEEN_SENTENCES.findall(words)) >= MAX_SENTENCES
    return words if is_long else _translated(words, language)


@lru_cache(maxsize=10_000)
def _translated(text: str, language: str, depth: int = MAX_DEPTH) -> str:
    # The empty message is the head of the catalog.
    if not (text and depth):
        return text
    if (translation := pgettext(CONTEXT, text)) != text:
        return translation
    patterns = _list_patterns(language)
    for words, names, message in patterns.get(_first_word(text), patterns[""]):
        if filled := _values(text, words, names):
            values = {
                name: _translated(_write_numbers(value), language, depth - 1)
                for name, value in filled.items()
            }
            return pgettext(CONTEXT, message) % values
    sentences = _BETWEEN_SENTENCES.split(text)
    if len(sentences) > 1:
        return " ".join(_translated(sentence, language, depth - 1) for sentence in sentences)
    # A member of the API may stand before what is wrong with it.
    member, colon, reason = text.partition(": ")
    has_member = colon and member.isidentifier()
    return f"{member}: {_translated(reason, language, depth - 1)}" if has_member else text


def _write_numbers(text: str) -> str:
    """Writes numbers with the reader's decimal sign before a unit, and the space before a percent sign."""
    decimal = _DECIMAL.sub(lambda match: number_format(Decimal(match[0])), text)
    return _PERCENT.sub(gettext("%(number)s%%") % {"number": ""}, decimal)


@lru_cache(maxsize=16)
def _list_patterns(language: str) -> dict[str, list[tuple[list[str], list[str], str]]]:
    """The patterns by first word: the words and names of values of the messages that can begin with it.

    Those with more words of their own come first.
    """
    catalog: Any = translation(language)._catalog  # type: ignore[attr-defined]  # noqa: SLF001 - its keys are found nowhere else
    start, keys = f"{CONTEXT}\x04", catalog.keys()
    # The catalog names a key once for each of its parts.
    messages = dict.fromkeys(key.removeprefix(start) for key in keys if str(key).startswith(start))
    filled = [message for message in messages if _VALUE.search(message)]
    filled.sort(key=lambda message: len(_VALUE.sub("", message)), reverse=True)
    patterns = [_make_pattern(message) for message in filled]
    first_words = {_first_word(words[0]) for words, _, _ in patterns}
    return {
        word: [pattern for pattern in patterns if _first_word(pattern[0][0]) in {"", word}]
        for word in {"", *first_words}
    }


def _first_word(text: str) -> str:
    """Empty if no space follows it: more letters may."""
    word, space, _ = text.partition(" ")
    return word if space else ""


def _make_pattern(message: str) -> tuple[list[str], list[str], str]:
    parts = _VALUE.split(message)
    return [part.replace("%%", "%") for part in parts[::2]], parts[1::2], message


def _values(text: str, words: list[str], names: list[str]) -> dict[str, str]:
    """The values between these words; empty if it is another text. Each ends where the next words first stand.

    A regular expression would try all places of the words for a hostile value: minutes for 2,000 letters.
    """
    first, *between, last = words
    position, end, values = len(first), len(text) - len(last), {}
    if not (text.startswith(first) and text.endswith(last)):
        return {}
    for name, following in zip(names, [*between, None], strict=True):
        stop = end if following is None else text.find(following, position + 1, end)
        if stop <= position:
            return {}
        values[name], position = text[position:stop], stop + len(following or "")
    return values
