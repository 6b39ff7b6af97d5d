"""Paged lists: iterate over the records, or over `pages()`."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import parse_qs

import httpx

from store_fulfillment._calls import Call
from store_fulfillment.errors import ConnectionFailed, json_of

if TYPE_CHECKING:
    from store_fulfillment._transport import AsyncTransport, Transport

T = TypeVar("T")
# Bounded, because a long hostile header would take quadratic time.
NEXT = re.compile(r'<([^<>]{0,9000})>\s{0,9};[^,]{0,200}\brel="?next"?')


@dataclass(frozen=True)
class Page(Generic[T]):
    """`cursor` is the value of `after` that goes on behind this page."""

    items: list[T]
    cursor: str | None
    headers: httpx.Headers

    @property
    def is_last(self) -> bool:
        # A growing list always names a next page.
        return self.cursor is None or not self.items


def _page(response: httpx.Response) -> tuple[Page[Any], dict[str, list[str]]]:
    items = json_of(response)
    if not isinstance(items, list):
        raise ConnectionFailed(
            f"{response.request.method} {response.request.url}: the response is not a list"
        )
    match = NEXT.search(response.headers.get("Link", ""))
    query = parse_qs(match[1].partition("?")[2].partition("#")[0]) if match else {}
    return Page(items, query.get("after", [None])[0], response.headers), query


class Pages(Generic[T]):
    def __init__(self, transport: Transport, call: Call) -> None:
        self._transport, self._call = transport, call

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.items

    def pages(self) -> Iterator[Page[T]]:
        call = self._call
        while True:
            page, query = _page(self._transport.response(call))
            yield page
            if page.is_last:
                return
            call = replace(call, query=query)

    def first(self) -> Page[T]:
        return next(self.pages())


class AsyncPages(Generic[T]):
    def __init__(self, transport: AsyncTransport, call: Call) -> None:
        self._transport, self._call = transport, call

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item

    async def pages(self) -> AsyncIterator[Page[T]]:
        call = self._call
        while True:
            page, query = _page(await self._transport.response(call))
            yield page
            if page.is_last:
                return
            call = replace(call, query=query)

    async def first(self) -> Page[T]:
        page, _ = _page(await self._transport.response(self._call))
        return page
