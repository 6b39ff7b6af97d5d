"""The rules of calls as generators without I/O, shared by both clients.

A generator yields the next step and receives its result, so that the rules exist only once.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import httpx

from store_fulfillment._calls import CHUNK, Call
from store_fulfillment._retries import Retries
from store_fulfillment._version import __version__
from store_fulfillment.auth import Credentials, Tokens, token_request, tokens_of
from store_fulfillment.errors import ConnectionFailed, OAuthError, TimedOut, error_of

ROOT = "/api/v1"


@dataclass(frozen=True)
class Send:
    request: httpx.Request
    is_stream: bool = False


@dataclass(frozen=True)
class Wait:
    seconds: float


@dataclass(frozen=True)
class GetToken:
    """`refused` is a token that the service rejected."""

    refused: str | None = None


Steps = Generator[Send | Wait | GetToken, Any, httpx.Response]


class Rules:
    def __init__(
        self,
        base_url: str,
        *,
        credentials: Credentials,
        subscription_key: str,
        timeout: float,
        retries: Retries,
        user_agent: str,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.credentials = credentials
        self.subscription_key = subscription_key
        self.timeout = timeout
        self.retries = retries
        own = f"store-fulfillment-python/{__version__} python/{platform.python_version()} httpx/{httpx.__version__}"
        self.user_agent = f"{user_agent} {own}".strip()

    def steps(self, call: Call, *, is_stream: bool = False) -> Steps:
        headers = call.headers()
        content = _content_of(call)
        token = yield GetToken()
        tries = self._tries(call, lambda: self._request(call, headers, content, token), is_stream)
        response = yield from tries
        if response.status_code == 401 and "invalid_token" in response.headers.get("WWW-Authenticate", ""):
            token, refused = (yield GetToken(token)), token
            if token != refused:
                tries = self._tries(call, lambda: self._request(call, headers, content, token), is_stream)
                response = yield from tries
        if not response.is_success:
            raise error_of(response)
        return response

    def download_steps(self, url: str) -> Steps:
        """A signed address opens without credentials, and gets none."""
        call = Call("download", "GET", url, is_repeatable=True)
        headers = {"User-Agent": self.user_agent}
        timeout = httpx.Timeout(self.timeout).as_dict()
        response = yield from self._tries(
            call,
            lambda: httpx.Request("GET", url, headers=headers, extensions={"timeout": timeout}),
            is_stream=True,
        )
        if not response.is_success:
            raise error_of(response)
        return response

    def usable_token(self, refused: str | None) -> str | None:
        """The token to send, or None if a new one is to be fetched."""
        tokens = self.credentials.tokens
        if tokens is None:
            if self.credentials.form() is None:
                raise OAuthError("invalid_token", "There is no token; sign in first.")
            return None
        if self.credentials.form() is None:
            return tokens.access_token
        return tokens.access_token if tokens.is_fresh and tokens.access_token != refused else None

    def token_steps(self) -> Steps:
        form = self.credentials.form() or {}
        # A refresh token used twice ends the session: it is sent again only if it cannot have arrived.
        is_repeatable = form.get("grant_type") != "refresh_token"
        call = Call("token", "POST", "/oauth/token", is_repeatable=is_repeatable)
        pair = self.credentials.client_id, self.credentials.client_secret

        def request() -> httpx.Request:
            request = token_request(self.base_url, *pair, form)
            request.headers["User-Agent"] = self.user_agent
            request.extensions["timeout"] = httpx.Timeout(self.timeout).as_dict()
            return request

        return (yield from self._tries(call, request, is_stream=False))

    def keep_tokens(self, response: httpx.Response) -> str:
        tokens: Tokens = tokens_of(response)
        self.credentials.keep(tokens)
        return tokens.access_token

    def _tries(self, call: Call, request: Callable[[], httpx.Request], is_stream: bool) -> Steps:
        tries, began = 0, time.monotonic()
        while True:
            tries += 1
            outcome = yield Send(request(), is_stream)
            if isinstance(outcome, httpx.Response):
                # The earlier attempt deleted it, but its response was lost.
                if call.method == "DELETE" and tries > 1 and outcome.status_code == 404:
                    return httpx.Response(204, request=outcome.request)
                if outcome.is_success:
                    return outcome
            wait = self.retries.wait_after(call, tries, outcome, seconds=time.monotonic() - began)
            if wait is not None:
                yield Wait(wait)
            elif isinstance(outcome, httpx.Response):
                return outcome
            else:
                kind = TimedOut if isinstance(outcome, httpx.TimeoutException) else ConnectionFailed
                text = f"{call.method} {call.path}: {str(outcome) or type(outcome).__name__}"
                raise kind(f"{text} (tries: {tries})") from outcome

    def _request(
        self, call: Call, headers: dict[str, str], content: Callable[[], Any], token: str
    ) -> httpx.Request:
        all_headers = {
            **headers,
            "Authorization": f"Bearer {token}",
            "Ocp-Apim-Subscription-Key": self.subscription_key,
            "User-Agent": self.user_agent,
        }
        body = content()
        stream = body.pop("stream", None)
        if stream is not None:
            all_headers["Content-Length"] = str(stream.size)
        request = httpx.Request(
            call.method,
            f"{self.base_url}{ROOT}{call.path}",
            params=call.parameters() or None,
            headers=all_headers,
            extensions={"timeout": httpx.Timeout(call.timeout or self.timeout).as_dict()},
            **body,
        )
        if stream is not None:
            request.stream = stream
        return request


def _content_of(call: Call) -> Callable[[], dict[str, Any]]:
    """Makes the body of each try; a file is read from its start again."""
    if call.file is None:
        return lambda: {} if call.body is None else {"json": call.body}
    file = call.content()
    if isinstance(file, bytes):
        return lambda: {"content": file}
    if isinstance(file, (str, os.PathLike)):
        path = Path(file)
        return lambda: {"stream": FileBody(path, path.stat().st_size)}
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    return lambda: {"stream": FileBody(file, size, start)}


class FileBody(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The rest of a file in pieces, for both kinds of client. Files are read in place: they are local and small."""

    def __init__(self, file: Path | BinaryIO, size: int, start: int = 0) -> None:
        self._file, self.size, self._start = file, size, start

    def __iter__(self) -> Iterator[bytes]:
        if isinstance(self._file, Path):
            with self._file.open("rb") as opened:
                yield from _pieces(opened)
        else:
            self._file.seek(self._start)
            yield from _pieces(self._file)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk
