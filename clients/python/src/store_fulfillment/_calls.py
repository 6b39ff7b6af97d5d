"""One call of an operation, before it is sent."""

from __future__ import annotations

import mimetypes
import os
import tempfile
import uuid
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, Union, cast
from urllib.parse import quote

Content = Union[bytes, str, "os.PathLike[str]", BinaryIO]
File = Union[bytes, str, "os.PathLike[str]", BinaryIO, Iterable[bytes], AsyncIterable[bytes]]
"""The content itself, the path of a file, a file that was opened for reading bytes, or what comes in pieces.

A pipe and pieces are read to their end first: the service wants the length, and a second try the same bytes.
"""

SIGNATURES = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"BM": "image/bmp",
    b"%PDF-": "application/pdf",
}
# Not every system knows it.
SHEETS = {".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
SIGNATURE = max(map(len, SIGNATURES))
CHUNK = 65536
IN_MEMORY = 1_048_576


@dataclass
class Call:
    operation: str
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    file: File | None = None
    content_type: str | None = None
    if_match: str | None = None
    idempotency_key: str | None = None
    takes_key: bool = False
    is_repeatable: bool = False
    accept: str = "application/json"
    timeout: float | None = None

    def headers(self) -> dict[str, str]:
        """The same for every try: the key is what lets the service recognise a repeated request."""
        headers = {"Accept": self.accept}
        if self.if_match is not None:
            headers["If-Match"] = self.if_match
        if self.takes_key:
            self.idempotency_key = self.idempotency_key or str(uuid.uuid4())
            headers["Idempotency-Key"] = self.idempotency_key
        if self.file is not None:
            headers["Content-Type"] = self.content_type or media_type(self.content())
        return headers

    def content(self) -> Content:
        """The file, in a form that can be read again."""
        if isinstance(self.file, AsyncIterable):
            raise TypeError("What comes in pieces by asyncio is for AsyncClient.")
        if not isinstance(self.file, (bytes, str, os.PathLike)) and not is_seekable(self.file):
            copy = new_kept_file()
            for chunk in self.file or ():
                copy.write(chunk)
            copy.seek(0)
            self.file = copy
        return cast("Content", self.file)

    async def gather(self) -> None:
        """The same for what comes by asyncio."""
        if isinstance(self.file, AsyncIterable):
            copy = new_kept_file()
            async for chunk in self.file:
                copy.write(chunk)
            copy.seek(0)
            self.file = copy

    def parameters(self) -> list[tuple[str, str | int | float | bool | None]]:
        pairs: list[tuple[str, str | int | float | bool | None]] = []
        for name, value in self.query.items():
            several = isinstance(value, Sequence) and not isinstance(value, str)
            pairs += [
                (name, _text(element)) for element in (value if several else [value]) if element is not None
            ]
        return pairs


def quoted(name: str) -> str:
    """Quotes a path parameter completely."""
    if not name or name in {".", ".."}:
        raise ValueError(f"{name!r} cannot be part of an address")
    return quote(name, safe="@")


def is_seekable(file: object) -> bool:
    # Its `seekable` is as young as Python 3.11.
    if isinstance(file, tempfile.SpooledTemporaryFile):
        return True
    seekable = getattr(file, "seekable", None)
    return bool(seekable and seekable())


def new_kept_file() -> BinaryIO:
    """In memory as long as it is small, else on the disk; gone with the call."""
    return cast("BinaryIO", tempfile.SpooledTemporaryFile(IN_MEMORY))


def media_type(file: Content) -> str:
    """By its first bytes, else by its name."""
    start = file[:SIGNATURE] if isinstance(file, bytes) else b""
    if isinstance(file, (str, os.PathLike)):
        with Path(file).open("rb") as opened:
            start = opened.read(SIGNATURE)
    elif not isinstance(file, bytes):
        position = file.tell()
        start = file.read(SIGNATURE)
        file.seek(position)
    detected = next((media for first, media in SIGNATURES.items() if start.startswith(first)), None)
    file_name = str(file) if isinstance(file, (str, os.PathLike)) else ""
    detected = detected or SHEETS.get(Path(file_name).suffix.lower())
    return detected or mimetypes.guess_type(file_name)[0] or "application/octet-stream"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        # Without an offset the service would take it for UTC, Python for the time zone of this machine.
        return (value if value.tzinfo else value.astimezone()).astimezone(timezone.utc).isoformat()
    return str(value)
