"""How deep JSON is nested, found without parsing it. Needs no settings."""

import re

MAX_DEPTH = 32
# Unterminated strings run to the end of the body; possessive, so that the time is linear.
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_ALL_BUT_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))


def is_too_deep(body: bytes) -> bool:
    """Whether JSON has more levels than MAX_DEPTH: parsers and writers fail at depths of their own."""
    return count_open_brackets(body) > MAX_DEPTH and _is_too_deep(without_strings(body))


def without_strings(body: bytes) -> bytes:
    return _STRINGS.sub(b"", body)


def count_open_brackets(body: bytes) -> int:
    return body.count(b"{") + body.count(b"[")


def _is_too_deep(bare: bytes) -> bool:
    brackets = bare.translate(_ONE_KIND, _ALL_BUT_BRACKETS)
    for _ in range(MAX_DEPTH):
        # Each round removes the innermost level.
        inner = brackets.replace(b"[]", b"")
        if len(inner) == len(brackets):
            break
        brackets = inner
    # Closing brackets without an opening one add no depth.
    return brackets.count(b"[") > MAX_DEPTH or b"[]" in brackets
