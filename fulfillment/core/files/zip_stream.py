"""Zip archives that are sent while they are written."""

import zipfile


class ZipStream:
    """Collects what is written to the archive until it is sent. Files are stored uncompressed: PDF already is."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._archive = zipfile.ZipFile(self, "w", zipfile.ZIP_STORED)

    def add(self, name: str, content: bytes | str) -> bytes:
        """Adds a file, and returns the next bytes to send."""
        self._archive.writestr(name, content)
        return self._take()

    def finish(self) -> bytes:
        """Returns the end of the archive, its directory."""
        self._archive.close()
        return self._take()

    def write(self, piece: bytes, /) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing is held back."""

    close = flush

    def _take(self) -> bytes:
        content = b"".join(self._pieces)
        self._pieces.clear()
        return content
