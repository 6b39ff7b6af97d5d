"""How large the structure of a JSON body may be, found out by counting bytes: nothing is made of it before."""

import re

from rest_framework.exceptions import ParseError

MAXIMUM_DEPTH = 32
# Members of objects and elements of arrays together; an order of 500 items with 120 fields each has as many.
MAXIMUM_VALUES = 65_000
LONGEST_NAME = 256

# To the end of the body where nothing ends it; never tried again from within, so that the time grows with the body.
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_ALL_BUT_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))


def check_structure(body: bytes) -> None:
    """Refuses a body that is too deep or has too many values; what is no JSON passes, for its parser to refuse."""
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


def _opened(body: bytes) -> int:
    return body.count(b"{") + body.count(b"[")


def _values(body: bytes) -> int:
    """Each has a comma before it, or is the first of what was opened."""
    return _opened(body) + body.count(b",")


def _is_too_deep(bare: bytes) -> bool:
    brackets = bare.translate(_ONE_KIND, _ALL_BUT_BRACKETS)
    for _ in range(MAXIMUM_DEPTH):
        # What is innermost goes: one level for each round.
        inner = brackets.replace(b"[]", b"")
        if len(inner) == len(brackets):
            break
        brackets = inner
    # Closed ones that were never opened are no depth.
    return brackets.count(b"[") > MAXIMUM_DEPTH or b"[]" in brackets
