"""Response bodies with access to their headers."""

from __future__ import annotations

from typing import Any

import httpx


class Record(dict[str, Any]):
    headers: httpx.Headers


class Records(list[Any]):
    headers: httpx.Headers


def parsed_response(response: httpx.Response) -> Any:
    text = response.json()
    record: Record | Records
    if isinstance(text, dict):
        record = Record(text)
    elif isinstance(text, list):
        record = Records(text)
    else:
        return text
    record.headers = response.headers
    return record


def headers_of(record: object) -> httpx.Headers:
    """The headers of what an operation returned."""
    if isinstance(record, (Record, Records)):
        return record.headers
    raise TypeError("Only what an operation returned has headers, no copy of it and no part of it.")


def etag_of(record: object) -> str | None:
    """The version of a record, for `if_match` of a later change."""
    found: str | None = headers_of(record).get("ETag")
    return found
