"""Limits of the structure of JSON bodies, checked on the bytes before parsing."""

import re

from rest_framework.exceptions import ParseError

MAXIMUM_DEPTH = 32
# Members and elements in total: enough for an order of 500 items with 120 fields each.
MAXIMUM_VALUES = 65_000
LONGEST_NAME = 256

# Unterminated strings run to the end of the body; possessive, so that the time is linear.
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_ALL_BUT_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))


def check_structure(body: bytes) -> None:
    """Refuses bodies with too many levels or values. Invalid JSON passes: the parser refuses it."""
    if _opened(body) <= MAXIMUM_DEPTH and _values(body) <= MAXIMUM_VALUES:
        return
    bare = _STRINGS.sub(b"", body)
    values = _values(bare)
    if values > MAXIMUM_VALUES:
        raise ParseError(
            f"The body has {values:,} members and elements; at most {MAXIMUM_VALUES:,} are read."
        )
    if _opened(bare) > MAXIMUM_DEPTH and _is_too_deep(bare):
        raise ParseError(f"The JSON is nested deeper than {MAXIMUM_DEPTH} levels.")


def is_too_deep(body: bytes) -> bool:
    """Whether JSON has more levels than MAXIMUM_DEPTH: parsers and writers fail at depths of their own."""
    return _opened(body) > MAXIMUM_DEPTH and _is_too_deep(_STRINGS.sub(b"", body))


def _opened(body: bytes) -> int:
    return body.count(b"{") + body.count(b"[")


def _values(body: bytes) -> int:
    """Counts values: one for each comma and for each opened array or object."""
    return _opened(body) + body.count(b",")


def _is_too_deep(bare: bytes) -> bool:
    brackets = bare.translate(_ONE_KIND, _ALL_BUT_BRACKETS)
    for _ in range(MAXIMUM_DEPTH):
        # Each round removes the innermost level.
        inner = brackets.replace(b"[]", b"")
        if len(inner) == len(brackets):
            break
        brackets = inner
    # Closing brackets without an opening one add no depth.
    return brackets.count(b"[") > MAXIMUM_DEPTH or b"[]" in brackets
