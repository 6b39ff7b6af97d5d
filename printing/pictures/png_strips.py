"""Reads and writes PNG pictures a strip of rows at a time, in the memory of one strip.

Pillow decodes whole pictures only: one of 50 megapixels takes 200 MB, and twice as much while it is converted. Here it
decodes and encodes small files of a strip each. The row above goes before the strip, because PNG filters refer to it.
"""

import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from PIL import Image, ImagePalette

STRIP_BYTES = 4 << 20
PIECE = 64 * 1024
SIGNATURE = b"\x89PNG\r\n\x1a\n"
# By the bytes of a pixel: the mode with 8 bits a channel whose rows are filtered in the same way, and its colour type.
FILTERED_AS = {1: ("L", 0), 2: ("LA", 4), 3: ("RGB", 2), 4: ("RGBA", 6)}
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
COLOUR_TYPES = {"L": 0, "RGB": 2, "RGBA": 6}
ORIENTATION = 0x0112
# Texts that may turn the picture.
TURNING = (b"Raw profile type exif", b"XML:com.adobe.xmp")


class PngStrips:
    """A PNG that Pillow has opened and not decoded. Reading raises OSError where it is damaged."""

    def __init__(self, content: bytes, picture: Image.Image) -> None:
        self._content, self._picture = content, picture
        bits = content[24] * CHANNELS.get(content[25], 0)
        self._row = (picture.width * bits + 7) // 8
        self._step = max(1, bits // 8)

    @property
    def is_possible(self) -> bool:
        """Neither interlaced pictures nor those of 48 and 64 bits a pixel can be read in strips."""
        is_plain = self._content[12:16] == b"IHDR" and not self._content[28]
        return is_plain and self._step in FILTERED_AS and getattr(self._picture, "n_frames", 1) == 1

    @property
    def may_be_turned(self) -> bool:
        """Also by what comes after the rows."""
        return any(
            (name == b"eXIf" and _turns(bytes(data)))
            or (name in {b"tEXt", b"zTXt", b"iTXt"} and bytes(data[:32]).startswith(TURNING))
            for name, data in self._chunks()
        )

    def strips(self, multiple: int = 1) -> Iterator[Image.Image]:
        """From top to bottom; the number of rows of all but the last is a multiple of `multiple`."""
        high = max(1, STRIP_BYTES // self._row // multiple) * multiple
        inflated = _Inflated(data for name, data in self._chunks() if name == b"IDAT")
        above = bytes(self._row)
        for top in range(0, self._picture.height, high):
            rows = min(high, self._picture.height - top)
            plain = self._unfiltered(above, inflated.read(rows * (self._row + 1)), rows)
            above = plain[-self._row :]
            yield self._strip(plain, rows)

    def _unfiltered(self, above: bytes, filtered: bytes, rows: int) -> bytes:
        mode, colour_type = FILTERED_AS[self._step]
        size = (self._row // self._step, rows + 1)
        file = b"".join(
            [
                SIGNATURE,
                _header(size, colour_type),
                _chunk(b"IDAT", zlib.compress(b"\0" + above + filtered, 0)),
            ]
        )
        with Image.open(BytesIO(file + _chunk(b"IEND", b"")), formats=["PNG"]) as strip:
            assert strip.mode == mode  # noqa: S101 - only the file made here
            return strip.tobytes()[self._row :]

    def _strip(self, plain: bytes, rows: int) -> Image.Image:
        picture = self._picture
        raw_mode = picture.tile[0].args  # type: ignore[attr-defined]
        strip = Image.frombytes(picture.mode, (picture.width, rows), plain, "raw", raw_mode)
        strip.info = dict(picture.info)
        if picture.palette is not None:
            strip.palette = ImagePalette.raw(picture.palette.rawmode or "RGB", picture.palette.palette)
        return strip

    def _chunks(self) -> Iterator[tuple[bytes, memoryview]]:
        whole, place = memoryview(self._content), len(SIGNATURE)
        while place + 8 <= len(whole):
            length = int.from_bytes(whole[place : place + 4], "big")
            yield bytes(whole[place + 4 : place + 8]), whole[place + 8 : place + 8 + length]
            place += length + 12


def _turns(data: bytes) -> bool:
    exif = Image.Exif()
    try:
        exif.load(b"Exif\0\0" + data)
        return exif.get(ORIENTATION, 1) != 1
    except (SyntaxError, ValueError, OSError, struct.error):
        return True


class _Inflated:
    def __init__(self, parts: Iterator[memoryview]) -> None:
        self._pieces = (part[at : at + PIECE] for part in parts for at in range(0, len(part), PIECE))
        self._inflate = zlib.decompressobj()

    def read(self, size: int) -> bytes:
        out = bytearray()
        while len(out) < size:
            piece = self._inflate.unconsumed_tail or next(self._pieces, b"")
            try:
                more = self._inflate.decompress(piece, size - len(out))
            except zlib.error as error:
                raise OSError("The data of the picture are damaged.") from error
            if not piece and not more:
                raise OSError("The picture ends before its last row.")
            out += more
        return bytes(out)


class PngWriter:
    """Writes strips of one width in mode L, RGB or RGBA, from top to bottom; call `close` at the end."""

    def __init__(self, out: BinaryIO, mode: str, size: tuple[int, int], level: int) -> None:
        self._out, self._mode = out, mode
        self._above = Image.new(mode, (size[0], 1), (0,) * len(mode))
        self._deflate = zlib.compressobj(level, strategy=zlib.Z_FILTERED)
        out.write(SIGNATURE + _header(size, COLOUR_TYPES[mode]))

    def add(self, strip: Image.Image) -> None:
        width, rows = strip.size
        joined = Image.new(self._mode, (width, rows + 1))
        joined.paste(self._above, (0, 0))
        joined.paste(strip, (0, 1))
        self._above = strip.crop((0, rows - 1, width, rows))
        encoded = BytesIO()
        joined.save(encoded, "PNG", compress_level=0)
        found = PngStrips(encoded.getvalue(), joined)._chunks()  # noqa: SLF001
        filtered = zlib.decompress(b"".join(data for name, data in found if name == b"IDAT"))
        self._write(self._deflate.compress(memoryview(filtered)[len(filtered) // (rows + 1) :]))

    def close(self) -> None:
        self._write(self._deflate.flush())
        self._out.write(_chunk(b"IEND", b""))

    def _write(self, data: bytes) -> None:
        if data:
            self._out.write(_chunk(b"IDAT", data))


def _header(size: tuple[int, int], colour_type: int) -> bytes:
    sides = b"".join(side.to_bytes(4, "big") for side in size)
    return _chunk(b"IHDR", sides + bytes([8, colour_type, 0, 0, 0]))


def _chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + name + data + zlib.crc32(data, zlib.crc32(name)).to_bytes(4, "big")
