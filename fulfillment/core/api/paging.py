"""Lists in pages: the parameters `after` and `take`, and the link to the next page (RFC 8288)."""

from collections.abc import Iterable
from urllib.parse import urlencode

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter

AFTER = OpenApiParameter("after", str, description="Where the last page ended; taken from its `Link` header.")
LINK_TO_NEXT = 'The next page, as `<address>; rel="next"`; not on the last one.'


def take_parameter(*, default: int, largest: int) -> OpenApiParameter:
    return OpenApiParameter("take", {"type": "integer", "minimum": 1, "maximum": largest, "default": default})


def link_header(description: str = LINK_TO_NEXT) -> OpenApiParameter:
    return OpenApiParameter("Link", str, OpenApiParameter.HEADER, response=[200], description=description)


def next_page(path: str, query: Iterable[tuple[str, str]], after: str) -> dict[str, str]:
    """The header that leads to the page after `after`, with the other parameters of this query."""
    parameters = [(name, value) for name, value in query if name != "after"]
    following = urlencode([*parameters, ("after", after)])
    return {"Link": f'<{settings.API_URL}{path}?{following}>; rel="next"'}
