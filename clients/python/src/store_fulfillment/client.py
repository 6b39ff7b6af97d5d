"""The two clients: `Client` waits, `AsyncClient` is for asyncio."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import httpx

from store_fulfillment._retries import Retries
from store_fulfillment._transport import AsyncDownload, AsyncTransport, Download, Transport
from store_fulfillment.auth import ClientCredentials, Credentials, safe_address
from store_fulfillment.batches import AsyncBatchesWithUpload, BatchesWithUpload
from store_fulfillment.resources import AsyncResources, Resources

TIMEOUT = 30.0


def _settings(
    base_url: str | None,
    client_id: str | None,
    client_secret: str | None,
    subscription_key: str | None,
    credentials: Credentials | None,
    scopes: Sequence[str],
    *,
    allow_http: bool,
) -> dict[str, Any]:
    """Missing arguments are read from the environment."""

    def setting(value: str | None, variable: str, name: str) -> str:
        text = value or os.environ.get(variable, "")
        if not text:
            raise ValueError(f"{name} is missing: pass it, or set {variable}.")
        return text

    if credentials is None:
        credentials = ClientCredentials(
            setting(client_id, "FULFILLMENT_CLIENT_ID", "client_id"),
            setting(client_secret, "FULFILLMENT_CLIENT_SECRET", "client_secret"),
            scopes,
        )
    return {
        "base_url": safe_address(setting(base_url, "FULFILLMENT_URL", "base_url"), allow_http=allow_http),
        "credentials": credentials,
        "subscription_key": setting(subscription_key, "FULFILLMENT_SUBSCRIPTION_KEY", "subscription_key"),
    }


class Client(Resources):
    """The API, one attribute for each group of operations; safe to share between threads.

    Either `client_id` and `client_secret` of an application, or `credentials`, such as `Person` of a signed-in person.
    `allow_http` sends them over http:// to hosts other than this machine, in clear.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        client_id: str | None = None,
        client_secret: str | None = None,
        subscription_key: str | None = None,
        credentials: Credentials | None = None,
        scopes: Sequence[str] = (),
        timeout: float = TIMEOUT,
        retries: Retries = Retries(),  # noqa: B008
        user_agent: str = "",
        allow_http: bool = False,
        http_client: httpx.Client | None = None,
    ) -> None:
        settings = _settings(
            base_url, client_id, client_secret, subscription_key, credentials, scopes, allow_http=allow_http
        )
        self._transport = Transport(
            **settings, timeout=timeout, retries=retries, user_agent=user_agent, http_client=http_client
        )
        super().__init__(self._transport)
        self.batches: BatchesWithUpload = BatchesWithUpload(self._transport)

    def download(self, url: str) -> Download:
        """The file at a signed address, such as `PdfURL` of a proof."""
        return self._transport.download(url)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(AsyncResources):
    """The same as `Client`, for asyncio."""

    def __init__(
        self,
        base_url: str | None = None,
        *,
        client_id: str | None = None,
        client_secret: str | None = None,
        subscription_key: str | None = None,
        credentials: Credentials | None = None,
        scopes: Sequence[str] = (),
        timeout: float = TIMEOUT,
        retries: Retries = Retries(),  # noqa: B008
        user_agent: str = "",
        allow_http: bool = False,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        settings = _settings(
            base_url, client_id, client_secret, subscription_key, credentials, scopes, allow_http=allow_http
        )
        self._transport = AsyncTransport(
            **settings, timeout=timeout, retries=retries, user_agent=user_agent, http_client=http_client
        )
        super().__init__(self._transport)
        self.batches: AsyncBatchesWithUpload = AsyncBatchesWithUpload(self._transport)

    async def download(self, url: str) -> AsyncDownload:
        """The file at a signed address, such as `PdfURL` of a proof."""
        return await self._transport.download(url)

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
