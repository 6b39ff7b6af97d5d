"""Parses bodies within limits: multipart and nested JSON cost a hundred times the work of plain bytes."""

import json
import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import IO, Any, TypeVar

from django.http import HttpRequest
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from fulfillment.core.concurrency_limits import ConcurrencyLimit
from fulfillment.core.errors import CountedFaults, Fault
from fulfillment.core.json_depth import MAX_DEPTH, count_open_brackets, is_too_deep, without_strings
from fulfillment.core.text import Place, parse_number, pointer_to

View = TypeVar("View", bound=Callable[..., Any])

# For signed-out visitors and OAuth clients; the largest form is a consent with its state.
SMALL_FORM, FEW_FIELDS = 32_768, 100
# For signed-in users, without files: 50 percent-encoded reply URLs.
SIGNED_IN_FORM = 262_144
# With files: larger than any form accepts, so that the form reports the error itself.
SIGNED_IN_BYTES = 32 * 1024 * 1024
# A print-ready PDF and the form around it. A body lies on the disk while it is read, and several may come at a time.
PRINT_FILE_BYTES = 101 * 1024 * 1024
URL_ENCODED = "application/x-www-form-urlencoded"
# Members and elements in total: enough for an order of 500 items with 120 fields each.
MAX_VALUES = 65_000
MAX_NAME_LENGTH = 256
# The only ways to write a NUL or half of a surrogate pair in JSON; complete pairs match as well.
SUSPICIOUS = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
# Larger bodies are parsed one at a time in a process: each takes up to 25 times its size in memory, and threads
# that compute side by side in Python gain nothing, but keep all others waiting.
LARGE_BODY = 64 * 1024
# These have a concurrency limit, so that one caller's do not hold all threads.
LARGE_BODY_BYTES = 256 * 1024
LARGE_BODIES = ConcurrencyLimit("large bodies", "large request bodies", "LARGE_BODIES_CONCURRENCY")
UNSTORABLE = "This contains a NUL or half of a surrogate pair."


def takes_large_forms(view: View) -> View:
    """Marks a page outside of the console whose form may be large, because it has files or long texts."""
    view.max_form_bytes = SIGNED_IN_BYTES  # type: ignore[attr-defined]
    return view


def takes_print_files(view: View) -> View:
    """Does as `takes_large_forms` for a form with a print-ready PDF."""
    view.max_form_bytes = PRINT_FILE_BYTES  # type: ignore[attr-defined]
    return view


def stated_size(request: HttpRequest) -> int:
    # `head_limits` refuses longer numbers.
    return parse_number(request.META.get("CONTENT_LENGTH") or "0", most=10**19) or 0


def field_count(request: HttpRequest) -> int:
    """An upper bound for the number of fields, without parsing the body; only for small bodies."""
    if request.content_type == URL_ENCODED:
        return request.body.count(b"&") + 1
    boundary = (request.content_params or {}).get("boundary", "")
    return request.body.count(b"--" + boundary.encode("ascii", "replace")) if boundary else 0


def check_structure(body: bytes) -> None:
    """Refuses bodies with too many levels or values. Invalid JSON passes: the parser refuses it."""
    if count_open_brackets(body) <= MAX_DEPTH and _count_values(body) <= MAX_VALUES:
        return
    bare = without_strings(body)
    values = _count_values(bare)
    if values > MAX_VALUES:
        raise ParseError(f"The body has {values:,} members and elements; at most {MAX_VALUES:,} are read.")
    if is_too_deep(bare):
        raise ParseError(f"The JSON is nested deeper than {MAX_DEPTH} levels.")


def _count_values(body: bytes) -> int:
    """Counts values: one for each comma and for each opened array or object."""
    return count_open_brackets(body) + body.count(b",")


_reading_large = threading.Lock()


class JSONParser(BaseParser):
    """Strict JSON: UTF-8, no duplicate names, no NaN, and within the limits of `check_structure`."""

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
        with _slot_for(body, parser_context or {}):
            return _read_json(body)


def _slot_for(body: bytes, parser_context: Mapping[str, Any]) -> AbstractContextManager[Any]:
    held = ExitStack()
    if len(body) > LARGE_BODY_BYTES:
        caller = getattr(parser_context.get("request"), "auth", None)
        held.enter_context(LARGE_BODIES.slot(getattr(caller, "key", "")))
    if len(body) > LARGE_BODY:
        held.enter_context(_reading_large)
    return held


def _read_json(body: bytes) -> Any:
    check_structure(body)
    value = _value_of(body)
    if SUSPICIOUS.search(body):
        _refuse_unstorable(value)
    return value


def _value_of(body: bytes) -> Any:
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_check_members,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
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


def _check_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if members and len(longest := max(members, key=len)) > MAX_NAME_LENGTH:
        message = (
            f"The name that begins with {longest[:40]!r} has {len(longest):,} characters; "
            f"at most {MAX_NAME_LENGTH} are read."
        )
        raise ParseError(message)
    if len(members) != len(pairs):
        # `count` for each name would take minutes for a body of many short names.
        names: set[str] = set()
        twice = next(name for name, _ in pairs if name in names or names.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the name {twice[:100]!r} occurs twice in one object")
    return members


def _parse_finite(text: str) -> float:
    """1e400 is JSON, but becomes infinity, which no column holds."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _refuse_unstorable(value: Any) -> None:
    """Refuses what no column can hold: NUL, and halves of surrogate pairs."""
    faults = CountedFaults()
    for place in _unstorable_places(value):
        if faults.count_one():
            pointer = pointer_to(place)
            where = pointer.lstrip("/") or "body"
            faults.listed.append(Fault(pointer, "invalid", f"{where}: {UNSTORABLE}"))
    if faults.count:
        raise faults.as_error()


def _unstorable_places(value: Any) -> Iterator[Place]:
    """The places in the order of the body; for a name, the place of its object."""
    pending: list[tuple[Place, Any]] = [(None, value)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, str):
            if not _is_storable(value):
                yield place
        elif isinstance(value, dict):
            yield from (place for name in value if not _is_storable(name))
            # No pointer, and so no response, can hold a name that is refused itself.
            members = ((name, inner) for name, inner in reversed(value.items()) if _is_storable(name))
            pending.extend(((place, name), inner) for name, inner in members)
        elif isinstance(value, list):
            last = len(value) - 1
            pending.extend(((place, last - index), inner) for index, inner in enumerate(reversed(value)))


def _is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False
