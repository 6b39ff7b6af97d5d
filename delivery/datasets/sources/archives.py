"""Opens plain, .gz and .zip files, detected by their content, with a limit on their unpacked size."""

import gzip
import hashlib
import io
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from delivery.datasets.problems import BadRouteFile

MAX_UNPACKED_BYTES = 2 * 1024**3
CHUNK = 1 << 18
# A preview runs within a web request.
PREVIEW_BYTES = 8 * 1024**2
PREVIEW_SECONDS = 2.0
# The directory of a .zip is read completely: 1 MiB lists about ten thousand members.
MAX_LIST_BYTES = 1 << 20
DAMAGED = (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error)


@dataclass
class OpenedFile:
    name: str
    size: int
    sha256: str
    stream: "io.BufferedReader[io.RawIOBase]"
    packed: IO[bytes]

    @property
    def share_read(self) -> float:
        """The share from 0 to 1, by bytes of the packed file."""
        return min(1.0, self.packed.tell() / self.size)


class PreviewEnded(BadRouteFile):
    """Ends a preview at its limit; it shows what was read so far."""


class _Unpacked(io.RawIOBase):
    """Counts unpacked bytes, and translates the errors of three libraries."""

    def __init__(self, inner: IO[bytes], *, is_preview: bool) -> None:
        self.inner, self.count = inner, 0
        self.is_preview, self.began = is_preview, time.monotonic()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self.inner.read(len(buffer))
        except DAMAGED as error:
            raise BadRouteFile(
                f"The compressed file is damaged or cut off ({error}). Fetch it again."
            ) from error
        self.count += len(data)
        elapsed = time.monotonic() - self.began
        if self.is_preview and (self.count > PREVIEW_BYTES or elapsed > PREVIEW_SECONDS):
            raise PreviewEnded("No routes were found at the beginning of the file.")
        if self.count > MAX_UNPACKED_BYTES:
            raise BadRouteFile("The file unpacks to more than 2 GB, so it is not a file of routes.")
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_file(path: Path, name: str = "", *, is_preview: bool = False) -> Iterator[OpenedFile]:
    try:
        packed = path.open("rb")
    except OSError as error:
        raise BadRouteFile(f"{path} cannot be read: {error.strerror}.") from error
    with packed:
        sha256 = hashlib.file_digest(packed, "sha256").hexdigest()
        size = packed.tell()
        packed.seek(0)
        if size == 0:
            raise BadRouteFile("The file is empty.")
        raw: io.RawIOBase = _Unpacked(_unpack_archive(packed), is_preview=is_preview)
        stream = io.BufferedReader(raw, CHUNK)
        yield OpenedFile(name or path.name, size, sha256, stream, packed)


def _unpack_archive(packed: IO[bytes]) -> IO[bytes]:
    magic = packed.read(4)
    packed.seek(0)
    if magic[:2] == b"\x1f\x8b":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=packed))
    if magic[:2] != b"PK":
        return packed
    try:
        return _only_member(zipfile.ZipFile(cast("IO[bytes]", _BoundedReads(packed))))
    except zipfile.BadZipFile as error:
        raise BadRouteFile(f"The .zip file is damaged or cut off ({error}). Fetch it again.") from error


class _BoundedReads:
    """Limits reads of a .zip's directory, which takes twenty times its size in memory."""

    def __init__(self, packed: IO[bytes]) -> None:
        self.packed = packed
        self.seek, self.tell, self.seekable = packed.seek, packed.tell, packed.seekable

    def read(self, size: int = -1) -> bytes:
        if size > MAX_LIST_BYTES:
            raise BadRouteFile("The .zip file must contain exactly one file; it contains tens of thousands.")
        return self.packed.read(size)


def _only_member(archive: zipfile.ZipFile) -> IO[bytes]:
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    names = [member.filename for member in members]
    if "[Content_Types].xml" in names:
        raise BadRouteFile(
            "This is a workbook of a spreadsheet program. Save the sheet as CSV (UTF-8) first."
        )
    if len(members) != 1:
        first_names = ", ".join(names[:5]) or "nothing"
        raise BadRouteFile(
            f"The .zip file must contain exactly one file; it contains {len(members)}: {first_names}."
        )
    if members[0].flag_bits & 1:
        raise BadRouteFile("The .zip file is encrypted. Unpack it with its password first.")
    # Other methods unpack any amount from a few bytes and cannot be stopped.
    if members[0].compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise BadRouteFile(
            "The .zip file must be packed by the usual method (deflate), or not packed at all."
        )
    return archive.open(members[0])
