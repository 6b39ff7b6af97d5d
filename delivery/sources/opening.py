"""Opens what an operator has: plain, .gz or .zip, by content and not by name, with a limit on what it unpacks to."""

import gzip
import hashlib
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from delivery.sources.problems import FileRefused

MAXIMUM_UNPACKED = 2 * 1024**3
CHUNK = 1 << 18
DAMAGED = (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, lzma.LZMAError)


@dataclass
class OpenedFile:
    name: str
    size: int
    sha256: str
    stream: "io.BufferedReader[io.RawIOBase]"
    packed: IO[bytes]

    @property
    def share_read(self) -> float:
        """From 0 to 1, by bytes of the file as it lies on disk."""
        return min(1.0, self.packed.tell() / self.size)


class _Unpacked(io.RawIOBase):
    """Counts what is unpacked, and turns the errors of three libraries into one sentence."""

    def __init__(self, inner: IO[bytes]) -> None:
        self.inner, self.count = inner, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self.inner.read(len(buffer))
        except DAMAGED as error:
            raise FileRefused(
                f"The compressed file is damaged or cut off ({error}). Fetch it again."
            ) from error
        self.count += len(data)
        if self.count > MAXIMUM_UNPACKED:
            raise FileRefused("The file unpacks to more than 2 GB; that is no file of routes.")
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_file(path: Path, name: str = "") -> Iterator[OpenedFile]:
    try:
        packed = path.open("rb")
    except OSError as error:
        raise FileRefused(f"{path} cannot be read: {error.strerror}.") from error
    with packed:
        sha256 = hashlib.file_digest(packed, "sha256").hexdigest()
        size = packed.tell()
        packed.seek(0)
        if size == 0:
            raise FileRefused("The file is empty.")
        raw: io.RawIOBase = _Unpacked(_unpack(packed))
        stream = io.BufferedReader(raw, CHUNK)
        yield OpenedFile(name or path.name, size, sha256, stream, packed)


def _unpack(packed: IO[bytes]) -> IO[bytes]:
    magic = packed.read(4)
    packed.seek(0)
    if magic[:2] == b"\x1f\x8b":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=packed))
    if magic[:2] != b"PK":
        return packed
    try:
        return _only_member(zipfile.ZipFile(packed))
    except zipfile.BadZipFile as error:
        raise FileRefused(f"The .zip file is damaged or cut off ({error}). Fetch it again.") from error


def _only_member(archive: zipfile.ZipFile) -> IO[bytes]:
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    names = [member.filename for member in members]
    if "[Content_Types].xml" in names:
        raise FileRefused("This is a workbook of a spreadsheet program. Save the sheet as CSV (UTF-8) first.")
    if len(members) != 1:
        listed = ", ".join(names[:5]) or "nothing"
        raise FileRefused(f"The .zip file must hold exactly one file; it holds {len(members)}: {listed}.")
    if members[0].flag_bits & 1:
        raise FileRefused("The .zip file is encrypted. Unpack it with its password first.")
    try:
        return archive.open(members[0])
    except NotImplementedError as error:
        raise FileRefused(f"The .zip file uses a method that is not supported ({error}).") from error
