import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from fulfillment.errors import Fault, Invalid

MAXIMUM_DEPTH = 32


class JSONParser(BaseParser):
    """Strict JSON: UTF-8, no duplicate names, no NaN, at most 32 levels deep."""

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
        try:
            value = json.loads(
                body.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant
            )
        except UnicodeDecodeError as error:
            raise ParseError(f"The body is not UTF-8 (byte {error.start}).") from error
        except json.JSONDecodeError as error:
            raise ParseError(
                f"The body is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
            ) from error
        except RecursionError as error:
            raise ParseError(f"The JSON is nested deeper than {MAXIMUM_DEPTH} levels.") from error
        except ValueError as error:
            reason = "a number has too many digits" if "digits" in str(error) else str(error)
            raise ParseError(f"The body is not valid JSON: {reason}.") from error
        _check(value, MAXIMUM_DEPTH, "")
        return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        # Not by counting each: a body of short names would keep the process busy for minutes.
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the name {twice[:100]!r} occurs twice in one object")
    return members


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _check(value: Any, levels: int, pointer: str) -> None:
    """Refuses what no column can hold: NUL, halves of surrogate pairs, and bottomless nesting."""
    if isinstance(value, str):
        if "\0" in value or not (value.isascii() or _is_encodable(value)):
            message = f"{pointer.lstrip('/') or 'body'}: This holds a NUL or half of a surrogate pair."
            raise Invalid(message, code="invalid_body", faults=[Fault(pointer, "invalid", message)])
    elif isinstance(value, dict | list):
        if levels == 0:
            raise ParseError(f"The JSON is nested deeper than {MAXIMUM_DEPTH} levels.")
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in members:
            if isinstance(name, str):
                _check(name, levels, pointer)
            _check(inner, levels - 1, f"{pointer}/{_escaped(str(name))}")


def _escaped(name: str) -> str:
    """A name as a part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
