"""Pixels of large JPEG pictures in files: the machine keeps them in memory only while it has room.

Pillow decodes and encodes whole pictures; one of 50 megapixels takes 200 MB. Here its pixels are those of a mapped
file, whose pages are given back while Pillow goes through them. Where the folder is in memory (tmpfs) nothing is saved.
"""

import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self

from PIL import Image

from printing.pictures.reading import PILLOW_ERRORS

STRIP_BYTES = 4 << 20
RELEASE_SECONDS = 0.005
# Pillow maps no RGB, but stores it in as many bytes.
STORED_AS = {"L": "L", "RGB": "RGBX", "CMYK": "CMYK"}
ORIENTATION = 0x0112
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
SIDEWAYS, FROM_THE_END = {5, 6, 7, 8}, {3, 4, 6, 7}
Change = Callable[[Image.Image], Image.Image]
# With its distance from the top, or from the left of one on its side.
Part = tuple[int, Image.Image]


class PixelFiles:
    """Pictures in files of this folder, for the length of the block."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._maps = folder, list[mmap.mmap]()
        self._done = threading.Event()
        self._releasing = threading.Thread(target=self._release, daemon=True)

    def __enter__(self) -> Self:
        self._releasing.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._releasing.join()

    def load(self, source: Image.Image) -> None:
        """Decodes a JPEG that Pillow has opened. Its mode becomes that of the file: RGBX in place of RGB."""
        stored = self._new(source.mode, source.size)
        source.im = stored.im
        source.load()
        source._mode = stored.mode  # noqa: SLF001 - has no setter

    def save(self, source: Image.Image, change: Change, target: Path, **options: Any) -> tuple[int, int]:
        """Writes a loaded picture as JPEG, changed in strips and turned upright; returns its size."""
        turn = _orientation(source)
        size = source.size[::-1] if turn in SIDEWAYS else source.size
        upright = None
        for top, part in self._upright(source, change, turn):
            upright = upright or self._new(part.mode, size)
            upright.paste(part, (0, top))
        assert upright is not None  # noqa: S101 - a picture has a row
        upright.save(target, "JPEG", **options)
        self._maps.pop()
        return size

    def _upright(self, source: Image.Image, change: Change, turn: int) -> Iterator[Part]:
        turned = (
            (
                source.height - top - strip.height if turn in FROM_THE_END else top,
                _turned(change(strip), turn),
            )
            for top, strip in _strips(source)
        )
        return self._rows_of(turned, source.size[::-1]) if turn in SIDEWAYS else turned

    def _rows_of(self, columns: Iterator[Part], size: tuple[int, int]) -> Iterator[Part]:
        """Rows of a picture that comes in columns. Pasting columns into a mapped file would touch all its pages."""
        with TemporaryFile(dir=self._folder) as file:
            found = []
            for left, column in columns:
                found.append((left, column.width, file.tell()))
                file.write(column.tobytes())
            mode, depth = column.mode, len(column.mode)
            high = max(1, STRIP_BYTES // (size[0] * depth))
            for top in range(0, size[1], high):
                rows = Image.new(mode, (size[0], min(high, size[1] - top)))
                for left, width, start in found:
                    file.seek(start + top * width * depth)
                    content = file.read(rows.height * width * depth)
                    rows.paste(Image.frombytes(mode, (width, rows.height), content), (left, 0))
                yield top, rows

    def _new(self, mode: str, size: tuple[int, int]) -> Image.Image:
        stored = STORED_AS[mode]
        length = size[0] * size[1] * len(stored)
        with TemporaryFile(dir=self._folder) as file:
            # A mapped file that finds no room later would end the process.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, length)
            else:
                file.truncate(length)
            self._maps.append(mmap.mmap(file.fileno(), length))
        mapped: Any = self._maps[-1]
        image = Image.frombuffer(stored, size, mapped, "raw", stored, 0, 1)
        image.readonly = 0
        return image

    def _release(self) -> None:
        while not self._done.wait(RELEASE_SECONDS):
            for each in list(self._maps):
                each.madvise(mmap.MADV_DONTNEED)


def _turned(picture: Image.Image, turn: int) -> Image.Image:
    return picture.transpose(TURNS[turn]) if turn in TURNS else picture


def _strips(source: Image.Image) -> Iterator[Part]:
    high = max(1, STRIP_BYTES // (source.width * len(source.mode)))
    for top in range(0, source.height, high):
        strip = source.crop((0, top, source.width, min(source.height, top + high)))
        plain = strip.convert("RGB") if strip.mode == "RGBX" else strip
        plain.info = dict(source.info)
        yield top, plain


def _orientation(source: Image.Image) -> int:
    """1, as it is, also where the metadata are damaged."""
    with suppress(*PILLOW_ERRORS, TypeError):
        turn = source.getexif().get(ORIENTATION, 1)
        return int(turn) if turn in TURNS else 1
    return 1
