"""Response headers that are made here, of ASCII and without line ends.

Django checks and encodes each header that it sets, which takes as long as all else that a response is made of. This
module alone knows where it keeps them: by their names in lower case, with the names as they are sent.
"""

from collections.abc import Mapping
from typing import Any

from django.http.response import HttpResponseBase

CheckedHeaders = Mapping[str, tuple[str, str]]


def checked(response: HttpResponseBase) -> dict[str, tuple[str, str]]:
    """The headers of a response, which Django has checked, for `add_missing`."""
    return dict(_stored(response))


def add_missing(response: HttpResponseBase, headers: CheckedHeaders) -> None:
    """Sets those of the headers that the response has not."""
    stored = _stored(response)
    stored.update({**headers, **stored})


def set_headers(response: HttpResponseBase, headers: Mapping[str, str]) -> None:
    _stored(response).update({name.lower(): (name, value) for name, value in headers.items()})


def send_as_kept(response: Any) -> None:
    """The handler then sends the headers as they are kept; Django's `items` looks up each again."""
    response.items = _stored(response).values


def _stored(response: Any) -> dict[str, tuple[str, str]]:
    headers: dict[str, tuple[str, str]] = response.headers._store  # noqa: SLF001
    return headers
