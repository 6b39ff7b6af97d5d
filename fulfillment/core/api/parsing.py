import json
import math
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from fulfillment.core.api.json_structure import LONGEST_NAME, check_structure
from fulfillment.core.errors import Fault, Invalid
from fulfillment.core.json_pointers import Place, pointer_to
from fulfillment.core.mistakes import Mistakes

# The only ways to write a NUL or half of a surrogate pair in JSON; complete pairs match as well.
SUSPICIOUS = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
# Larger bodies are parsed one at a time in a process: each takes up to 25 times its size in memory, and threads
# that compute side by side in Python gain nothing, but keep all others waiting.
LARGE_BODY = 64 * 1024
_reading_large = threading.Lock()
UNSTORABLE = "This holds a NUL or half of a surrogate pair."


class JSONParser(BaseParser):
    """Strict JSON: UTF-8, no duplicate names, no NaN, and within the limits of `json_structure`."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        # `body` and not `read`: Django then refuses what is larger than DATA_UPLOAD_MAX_MEMORY_SIZE.
        body = parser_context["request"]._request.body if parser_context else stream.read()  # noqa: SLF001
        if not body.strip():
            return {}
        with _reading_large if len(body) > LARGE_BODY else nullcontext():
            return _read(body)


def _read(body: bytes) -> Any:
    check_structure(body)
    value = _value_of(body)
    if SUSPICIOUS.search(body):
        _refuse_unstorable(value)
    return value


def _value_of(body: bytes) -> Any:
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_members,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise ParseError(f"The body is not UTF-8 (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        raise ParseError(
            f"The body is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except ValueError as error:
        reason = "a number has too many digits" if "digits" in str(error) else str(error)
        raise ParseError(f"The body is not valid JSON: {reason}.") from error


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if members and len(longest := max(members, key=len)) > LONGEST_NAME:
        message = (
            f"The name that begins with {longest[:40]!r} has {len(longest):,} characters; "
            f"at most {LONGEST_NAME} are read."
        )
        raise ParseError(message)
    if len(members) != len(pairs):
        # Without counting each one: a body of short names would take minutes.
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the name {twice[:100]!r} occurs twice in one object")
    return members


def _finite(text: str) -> float:
    """1e400 is JSON, but becomes infinity, which no column holds."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _refuse_unstorable(value: Any) -> None:
    """Refuses what no column can hold: NUL, and halves of surrogate pairs."""
    mistakes = Mistakes()
    for place in _unstorable_places(value):
        if mistakes.count_one():
            pointer = pointer_to(place)
            where = pointer.lstrip("/") or "body"
            mistakes.listed.append(Fault(pointer, "invalid", f"{where}: {UNSTORABLE}"))
    if mistakes.count:
        raise Invalid(
            mistakes.summary, code="invalid_body", faults=mistakes.listed, fault_count=mistakes.count
        )


def _unstorable_places(value: Any) -> Iterator[Place]:
    """In the order of the body; of a name, where the object is that has it."""
    rest: list[tuple[Place, Any]] = [(None, value)]
    while rest:
        place, value = rest.pop()
        if isinstance(value, str):
            if not _is_storable(value):
                yield place
        elif isinstance(value, dict):
            yield from (place for name in value if not _is_storable(name))
            rest.extend(((place, name), inner) for name, inner in reversed(value.items()))
        elif isinstance(value, list):
            last = len(value) - 1
            rest.extend(((place, last - index), inner) for index, inner in enumerate(reversed(value)))


def _is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False
