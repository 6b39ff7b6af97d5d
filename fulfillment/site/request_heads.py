"""Limits of request heads: of the URL and of every header that is parsed.

They are checked by lengths and counts alone, which costs microseconds for any input.
"""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

# Four times the space for a hundred postal codes and all parameters.
LONGEST_ADDRESS, LONGEST_QUERY, MAX_PARAMETERS = 2048, 16_384, 500
# Names and values of all headers in total, without the URL.
LARGEST_HEAD, MAX_HEADERS = 16_384, 100


@dataclass(frozen=True, slots=True)
class HeaderLimit:
    name: str
    longest: int
    most_parts: int = 1_000
    separator: str = ","


# Everything that is split, matched, decoded or looked up. What is read by nothing is held by LARGEST_HEAD alone.
HEADER_LIMITS = {
    "CONTENT_TYPE": HeaderLimit("Content-Type", 300, 10, ";"),
    "CONTENT_LENGTH": HeaderLimit("Content-Length", 19),
    "HTTP_ACCEPT": HeaderLimit("Accept", 1000, 20),
    "HTTP_ACCEPT_ENCODING": HeaderLimit("Accept-Encoding", 500, 20),
    "HTTP_ACCEPT_LANGUAGE": HeaderLimit("Accept-Language", 1000, 50),
    "HTTP_AUTHORIZATION": HeaderLimit("Authorization", 2000),
    "HTTP_COOKIE": HeaderLimit("Cookie", 8192, 100, ";"),
    "HTTP_FORWARDED": HeaderLimit("Forwarded", 2000, 50),
    "HTTP_HOST": HeaderLimit("Host", 300),
    "HTTP_IDEMPOTENCY_KEY": HeaderLimit("Idempotency-Key", 1000),
    "HTTP_IF_MATCH": HeaderLimit("If-Match", 4000, 50),
    "HTTP_IF_MODIFIED_SINCE": HeaderLimit("If-Modified-Since", 100),
    "HTTP_IF_NONE_MATCH": HeaderLimit("If-None-Match", 4000, 50),
    "HTTP_IF_RANGE": HeaderLimit("If-Range", 200),
    "HTTP_IF_UNMODIFIED_SINCE": HeaderLimit("If-Unmodified-Since", 100),
    "HTTP_ORIGIN": HeaderLimit("Origin", 300),
    "HTTP_RANGE": HeaderLimit("Range", 500, 20),
    "HTTP_REFERER": HeaderLimit("Referer", 8192),
    "HTTP_X_FORWARDED_FOR": HeaderLimit("X-Forwarded-For", 2000, 50),
    "HTTP_X_FORWARDED_HOST": HeaderLimit("X-Forwarded-Host", 300),
    "HTTP_X_FORWARDED_PROTO": HeaderLimit("X-Forwarded-Proto", 100),
}


@dataclass(frozen=True, slots=True)
class HeadRefusal:
    status: int
    code: str
    message: str


def head_refusal(meta: Mapping[str, Any], path: str) -> HeadRefusal | None:
    """The exceeded limit of a request's head; None if it is accepted."""
    return _address_refusal(path, meta.get("QUERY_STRING", "")) or _header_refusal(meta)


def shorten_head(environ: MutableMapping[str, Any]) -> None:
    """Cuts the two parts that Django takes apart before any middleware runs, one character or part behind their limit.

    It needs time that grows with the square of their length: more than a minute for a Content-Type of 390 kB.
    """
    path = environ.get("PATH_INFO", "")
    # WSGI counts up to four characters for one.
    if len(path) > 4 * LONGEST_ADDRESS:
        environ["PATH_INFO"] = path[: LONGEST_ADDRESS + 1].encode("ascii", "replace").decode()
    limit = HEADER_LIMITS["CONTENT_TYPE"]
    header = environ.get("CONTENT_TYPE", "")
    if len(header) > limit.longest or header.count(limit.separator) >= limit.most_parts:
        *parts, rest = header[: limit.longest + 1].split(limit.separator, limit.most_parts)
        # One part over the limit is enough to be refused.
        environ["CONTENT_TYPE"] = limit.separator.join([*parts, rest.replace(limit.separator, ",")])


def _address_refusal(path: str, query: str) -> HeadRefusal | None:
    for what, length, most in (("path", len(path), LONGEST_ADDRESS), ("query", len(query), LONGEST_QUERY)):
        if length > most:
            message = f"The address is too long: its {what} has more than {most:,} characters."
            return HeadRefusal(414, "address_too_long", message)
    parameters = query.count("&") + 1
    if parameters > MAX_PARAMETERS:
        message = f"The query has {parameters:,} parameters; at most {MAX_PARAMETERS} are read."
        return HeadRefusal(400, "too_many_parameters", message)
    return None


def _header_refusal(meta: Mapping[str, Any]) -> HeadRefusal | None:
    length = count = 0
    limited = []
    for key, value in meta.items():
        if key.startswith("HTTP_"):
            count += 1
            length += len(key) - 5 + len(value)
        if key in HEADER_LIMITS:
            limited.append(key)
    if count > MAX_HEADERS:
        return _too_large(f"The request has {count:,} headers; at most {MAX_HEADERS} are read.")
    for key in limited:
        if refusal := _one_refusal(HEADER_LIMITS[key], meta[key] or ""):
            return refusal
    if length > LARGEST_HEAD:
        return _too_large(
            f"The headers have {length:,} characters together; at most {LARGEST_HEAD:,} are read."
        )
    return None


def _one_refusal(limit: HeaderLimit, value: str) -> HeadRefusal | None:
    if len(value) > limit.longest:
        return _too_large(f"The header {limit.name} has more than {limit.longest:,} characters.")
    if value.count(limit.separator) >= limit.most_parts:
        return _too_large(f"The header {limit.name} has more than {limit.most_parts} parts.")
    return None


def _too_large(message: str) -> HeadRefusal:
    return HeadRefusal(431, "headers_too_large", message)
