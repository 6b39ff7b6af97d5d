"""Runs the steps of `Rules`, blocking and with asyncio, and gives response bodies with their headers."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from store_fulfillment._calls import CHUNK, Call
from store_fulfillment._rules import GetToken, Rules, Send, Steps, Wait
from store_fulfillment.errors import ConnectionFailed, json_of


class Transport(Rules):
    def __init__(self, *args: Any, http_client: httpx.Client | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.http = http_client or httpx.Client()
        self._one_renews = threading.Lock()

    def json(self, call: Call) -> Any:
        return parsed_response(self._take(self.steps(call)))

    def response(self, call: Call) -> httpx.Response:
        return self._take(self.steps(call))

    def nothing(self, call: Call) -> None:
        self._take(self.steps(call))

    def file(self, call: Call) -> Download:
        return Download(self._take(self.steps(call, is_stream=True)))

    def download(self, url: str) -> Download:
        return Download(self._take(self.download_steps(url)))

    def close(self) -> None:
        self.http.close()

    def _take(self, steps: Steps) -> httpx.Response:
        outcome: Any = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as ended:
                response: httpx.Response = ended.value
                return response
            if isinstance(step, Send):
                outcome = self._send(step)
            elif isinstance(step, Wait):
                time.sleep(step.seconds)
                outcome = None
            else:
                outcome = self._token(step)

    def _send(self, step: Send) -> httpx.Response | httpx.RequestError:
        try:
            response = self.http.send(step.request, stream=step.is_stream)
            if step.is_stream and not response.is_success:
                response.read()
        except httpx.RequestError as error:
            return error
        return response

    def _token(self, step: GetToken) -> str:
        token = self.usable_token(step.refused)
        if token is None:
            with self._one_renews:
                token = self.usable_token(step.refused)
                if token is None:
                    token = self.keep_tokens(self._take(self.token_steps()))
        return token


class AsyncTransport(Rules):
    def __init__(self, *args: Any, http_client: httpx.AsyncClient | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.http = http_client or httpx.AsyncClient()
        self._one_renews = asyncio.Lock()

    async def json(self, call: Call) -> Any:
        return parsed_response(await self._call(call))

    async def response(self, call: Call) -> httpx.Response:
        return await self._call(call)

    async def nothing(self, call: Call) -> None:
        await self._call(call)

    async def file(self, call: Call) -> AsyncDownload:
        return AsyncDownload(await self._call(call, is_stream=True))

    async def download(self, url: str) -> AsyncDownload:
        return AsyncDownload(await self._take(self.download_steps(url)))

    async def close(self) -> None:
        await self.http.aclose()

    async def _call(self, call: Call, *, is_stream: bool = False) -> httpx.Response:
        await call.gather()
        return await self._take(self.steps(call, is_stream=is_stream))

    async def _take(self, steps: Steps) -> httpx.Response:
        outcome: Any = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as ended:
                response: httpx.Response = ended.value
                return response
            if isinstance(step, Send):
                outcome = await self._send(step)
            elif isinstance(step, Wait):
                await asyncio.sleep(step.seconds)
                outcome = None
            else:
                outcome = await self._token(step)

    async def _send(self, step: Send) -> httpx.Response | httpx.RequestError:
        try:
            response = await self.http.send(step.request, stream=step.is_stream)
            if step.is_stream and not response.is_success:
                await response.aread()
        except httpx.RequestError as error:
            return error
        return response

    async def _token(self, step: GetToken) -> str:
        token = self.usable_token(step.refused)
        if token is None:
            async with self._one_renews:
                token = self.usable_token(step.refused)
                if token is None:
                    token = self.keep_tokens(await self._take(self.token_steps()))
        return token


class _Answered:
    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.headers = response.headers

    @property
    def media_type(self) -> str:
        return str(self.headers.get("Content-Type", "")).partition(";")[0]

    @property
    def size(self) -> int | None:
        """In bytes, where the service says so beforehand."""
        text = self.headers.get("Content-Length", "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


class Download(_Answered):
    """A file read in pieces; close it, or read it to its end."""

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._response.iter_bytes(CHUNK)
        except httpx.RequestError as error:
            raise ConnectionFailed(f"The file broke off: {error}") from error
        finally:
            self._response.close()

    def read(self) -> bytes:
        return b"".join(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file; an interrupted download leaves none."""
        with _Part(path) as part:
            for chunk in self:
                part.write(chunk)
        return Path(path)

    def close(self) -> None:
        self._response.close()


class AsyncDownload(_Answered):
    """A file read in pieces; close it, or read it to its end."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.aiter_bytes(CHUNK):
                yield chunk
        except httpx.RequestError as error:
            raise ConnectionFailed(f"The file broke off: {error}") from error
        finally:
            await self._response.aclose()

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self])

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file; an interrupted download leaves none."""
        with _Part(path) as part:
            async for chunk in self:
                part.write(chunk)
        return Path(path)

    async def close(self) -> None:
        await self._response.aclose()


class _Part:
    """A temporary file that replaces the requested one when it is complete."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        # In a folder of several people the name must not be guessed, nor a link of that name be followed.
        self._part = self._path.with_name(f".{self._path.name[:100]}.{secrets.token_hex(8)}.part")

    def __enter__(self) -> _Part:
        self._file = self._part.open("xb")
        return self

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if kind is None:
            self._part.replace(self._path)
        else:
            self._part.unlink(missing_ok=True)


class Record(dict[str, Any]):
    headers: httpx.Headers


class Records(list[Any]):
    headers: httpx.Headers


def parsed_response(response: httpx.Response) -> Any:
    text = json_of(response)
    record: Record | Records
    if isinstance(text, dict):
        record = Record(text)
    elif isinstance(text, list):
        record = Records(text)
    else:
        raise ConnectionFailed("The response is neither an object nor a list.")
    record.headers = response.headers
    return record


def headers_of(record: object) -> httpx.Headers:
    """The headers of what an operation returned."""
    if isinstance(record, (Record, Records)):
        return record.headers
    raise TypeError("Only what an operation returned has headers, no copy of it and no part of it.")


def etag_of(record: object) -> str | None:
    """The version of a record, for `if_match` of a later change."""
    etag: str | None = headers_of(record).get("ETag")
    return etag
