"""Batches with a helper: `client.batches.upload` makes one of a file and waits for its check."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from store_fulfillment import models
from store_fulfillment._calls import File
from store_fulfillment.resources import AsyncBatches, Batches

EVERY_SECONDS = 1.0
BUSY = ("Checking", "Ordering")
Progress = Callable[[models.Batch], object]


class BatchesWithUpload(Batches):
    def upload(
        self,
        store_id: str,
        file: File,
        batch: models.BatchRequest,
        *,
        content_type: str | None = None,
        on_progress: Progress | None = None,
    ) -> models.Batch:
        """Makes a batch, sends its rows and waits until they are checked.

        `on_progress` gets the batch about once a second; its `Progress` says how far the check is.
        """
        created = self.create(store_id, batch)
        self.replace_rows(store_id, created["BatchID"], file, content_type=content_type)
        return self.wait(store_id, created["BatchID"], on_progress=on_progress)

    def wait(self, store_id: str, batch_id: str, *, on_progress: Progress | None = None) -> models.Batch:
        """Waits until the batch is checked or ordered, or an approval is pending."""
        while True:
            batch = self.get(store_id, batch_id)
            if on_progress:
                on_progress(batch)
            if is_settled(batch):
                return batch
            time.sleep(EVERY_SECONDS)


class AsyncBatchesWithUpload(AsyncBatches):
    async def upload(
        self,
        store_id: str,
        file: File,
        batch: models.BatchRequest,
        *,
        content_type: str | None = None,
        on_progress: Progress | None = None,
    ) -> models.Batch:
        """Makes a batch, sends its rows and waits until they are checked; see `Client`."""
        created = await self.create(store_id, batch)
        await self.replace_rows(store_id, created["BatchID"], file, content_type=content_type)
        return await self.wait(store_id, created["BatchID"], on_progress=on_progress)

    async def wait(
        self, store_id: str, batch_id: str, *, on_progress: Progress | None = None
    ) -> models.Batch:
        """Waits until the batch is checked or ordered, or an approval is pending."""
        while True:
            batch = await self.get(store_id, batch_id)
            if on_progress:
                on_progress(batch)
            if is_settled(batch):
                return batch
            await asyncio.sleep(EVERY_SECONDS)


def is_settled(batch: models.Batch) -> bool:
    approval = batch["Approval"]
    return batch["Status"] not in BUSY or (approval is not None and approval["State"] == "Pending")
