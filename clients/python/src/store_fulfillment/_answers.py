"""Response bodies with access to their headers."""

from __future__ import annotations

from typing import Any

import httpx


class Record(dict[str, Any]):
    headers: httpx.Headers


class Records(list[Any]):
    headers: httpx.Headers


def answer_of(response: httpx.Response) -> Any:
    text = response.json()
    answer: Record | Records
    if isinstance(text, dict):
        answer = Record(text)
    elif isinstance(text, list):
        answer = Records(text)
    else:
        return text
    answer.headers = response.headers
    return answer


def headers_of(answer: object) -> httpx.Headers:
    """The headers of the answer that an operation returned."""
    if isinstance(answer, (Record, Records)):
        return answer.headers
    raise TypeError("Only what an operation returned has headers, no copy of it and no part of it.")


def etag_of(answer: object) -> str | None:
    """The version of a record, for `if_match` of a later change."""
    found: str | None = headers_of(answer).get("ETag")
    return found
