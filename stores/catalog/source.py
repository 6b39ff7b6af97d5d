"""Reads a catalog file, plain or compressed with gzip (detected by its content), and reports progress."""

import gzip
import io
import zlib
from collections.abc import Callable
from typing import Any

from stores.catalog.reader import Readable, unreadable

GZIP = b"\x1f\x8b"


class CatalogSource:
    """The JSON in the file `raw`; `on_progress` receives the number of its bytes read so far.

    Reading raises CatalogUnreadable for a damaged gzip file, or beyond `maximum` bytes of JSON.
    """

    def __init__(
        self,
        raw: Readable,
        *,
        on_progress: Callable[[int], None] = lambda position: None,
        maximum: int | None = None,
    ) -> None:
        counted = _Counted(raw, on_progress)
        plain: Any = gzip.GzipFile(fileobj=counted) if counted.begins_with(GZIP) else counted
        self.plain = plain
        self.maximum = maximum
        self.bytes_read = 0

    def read(self, size: int = -1) -> bytes:
        try:
            data: bytes = self.plain.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise unreadable(
                "", "malformed_gzip", f"The file is not a complete gzip file: {str(error).rstrip('.')}."
            ) from error
        self.bytes_read += len(data)
        if self.maximum is not None and self.bytes_read > self.maximum:
            message = f"The file has more than {self.maximum:,} bytes when decompressed."
            raise unreadable("", "too_large", message)
        return data


class _Counted(io.RawIOBase):
    def __init__(self, raw: Readable, on_progress: Callable[[int], None]) -> None:
        self.raw = raw
        self.on_progress = on_progress
        self.first = raw.read(len(GZIP))
        self.position = len(self.first)

    def begins_with(self, magic: bytes) -> bool:
        return self.first == magic

    def read(self, size: int = -1) -> bytes:
        # ijson first reads 0 bytes, to see the type of the result.
        if self.first and size:
            data, self.first = self.first, b""
            return data
        data = self.raw.read(size)
        self.position += len(data)
        self.on_progress(self.position)
        return data
