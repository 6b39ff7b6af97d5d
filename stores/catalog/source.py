"""A catalog file as it is read: plain or packed, known by its content, and told how far it has come."""

import gzip
import io
import zlib
from collections.abc import Callable
from typing import Any

from stores.catalog.reader import Readable, unreadable

GZIP = b"\x1f\x8b"


class CatalogSource:
    """Plain JSON of a file that is `raw`; `listen` hears how many of its bytes were taken.

    Reading raises CatalogUnreadable for a packed file that is broken, or larger than `maximum` bytes unpacked.
    """

    def __init__(
        self,
        raw: Readable,
        *,
        listen: Callable[[int], None] = lambda position: None,
        maximum: int | None = None,
    ) -> None:
        counted = _Counted(raw, listen)
        plain: Any = gzip.GzipFile(fileobj=counted) if counted.begins_with(GZIP) else counted
        self.plain = plain
        self.maximum = maximum
        self.taken = 0

    def read(self, size: int = -1) -> bytes:
        try:
            data: bytes = self.plain.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise unreadable(
                "", "malformed_gzip", f"The file is not a whole gzip file: {str(error).rstrip('.')}."
            ) from error
        self.taken += len(data)
        if self.maximum is not None and self.taken > self.maximum:
            message = f"The file is larger than {self.maximum:,} bytes when it is unpacked."
            raise unreadable("", "too_large", message)
        return data


class _Counted(io.RawIOBase):
    def __init__(self, raw: Readable, listen: Callable[[int], None]) -> None:
        self.raw = raw
        self.listen = listen
        self.first = raw.read(len(GZIP))
        self.position = len(self.first)

    def begins_with(self, magic: bytes) -> bool:
        return self.first == magic

    def read(self, size: int = -1) -> bytes:
        # ijson asks for nothing first, to see what kind of thing it gets.
        if self.first and size:
            data, self.first = self.first, b""
            return data
        data = self.raw.read(size)
        self.position += len(data)
        self.listen(self.position)
        return data
