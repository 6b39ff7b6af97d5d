"""Uploaded pictures, checked by their content and never by their declared type."""

import os
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO

from PIL import Image
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import MARKER, JpegImageFile

# What Pillow raises for damaged pictures and metadata.
PILLOW_ERRORS = (
    OSError,
    ValueError,
    SyntaxError,
    struct.error,
    MemoryError,
    EOFError,
    IndexError,
    OverflowError,
    Warning,
)


# Enough for 50 megapixels with the usual halved colors (4:2:0), or 25 megapixels without.
HELD_SAMPLES = 75_000_000
# Pictures have 1 to 20. Each takes 20 bytes of a file at least, and 5 ms of 8 megapixels.
SCANS = 100
START_OF_SCAN = b"\xff\xda"
# The chunks of a PNG, of which those of libpng hold 8 KB, and the segments of a JPEG before its pixels, of which those
# that are nearly full make 160 of 10 MB.
CHUNKS, SEGMENTS = 10_000, 1_000
# What pixels, colors and orientation need. Pillow would read all else as well: 10 MB of it took up to 25 seconds.
ESSENTIAL_CHUNKS = frozenset(b"IHDR PLTE tRNS IDAT IEND acTL iCCP sRGB gAMA cHRM pHYs eXIf".split())
EXIF_BYTES = 0x10000
# Headers of frames (SOF); tables and the restart interval (DHT, DAC, DQT, DRI); and how segments of metadata begin.
FRAMES = frozenset(range(0xFFC0, 0xFFD0)) - {0xFFC4, 0xFFC8, 0xFFCC}
TABLES = frozenset({0xFFC4, 0xFFCC, 0xFFDB, 0xFFDD})
SEGMENT_STARTS = {0xFFE0: b"JFIF\0", 0xFFE1: b"Exif\0", 0xFFE2: b"ICC_PROFILE\0", 0xFFEE: b"Adobe"}
REPEATED = TABLES | {0xFFE2}
NEXT_MARKER = re.compile(rb"\xff[\x01-\xfe]")
# Pillow skips no segment of these markers.
MARKERS_ALONE = frozenset(marker for marker, (_, _, read) in MARKER.items() if read is None)
PNG_START, JPEG_START = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
# The tag of metadata that says how a picture is turned, and its first value for one that lies on its side.
ORIENTATION, ON_ITS_SIDE = 0x0112, 5


THUMBNAIL = (64, 64)
# Too much ink on a smaller share of the thumbnail is a speck and ignored.
INKED_SHARE = 0.01


class PictureTooLarge(ValueError):
    """The header declares more pixels than the service accepts."""


class ScansTooLarge(PictureTooLarge):
    """A JPEG in several scans with more of them, or of samples, than are accepted; the message says what to do."""


class PictureUnreadable(ValueError):
    """The content is not a whole picture of an allowed format."""


def open_picture(
    content: bytes, formats: tuple[str, ...], check_header: Callable[[Image.Image], None]
) -> Image.Image:
    """Decode a picture; `check_header` may refuse it before that: a small file can claim a gigantic picture."""
    with readable():
        source = open_undecoded(content, formats)
        check_header(source)
        check_scans(source)
        source.load()
    return source


def open_undecoded(content: bytes, formats: list[str] | tuple[str, ...]) -> ImageFile:
    """Opens a picture without what Pillow would read for long; raises PILLOW_ERRORS and PictureUnreadable."""
    return Image.open(BytesIO(essential_parts(content)), formats=formats)


def essential_parts(content: bytes) -> bytes:
    """A PNG or JPEG without texts and most metadata; raises PictureUnreadable for one of very many parts."""
    if content.startswith(PNG_START):
        return PNG_START + b"".join(_essential_chunks(content))
    if content.startswith(JPEG_START):
        return JPEG_START + b"".join(_essential_segments(content))
    return content


def _essential_chunks(content: bytes) -> Iterator[bytes]:
    place = len(PNG_START)
    seen: set[bytes] = set()
    for _ in range(CHUNKS):
        length, name = int.from_bytes(content[place : place + 4], "big"), content[place + 4 : place + 8]
        is_too_long = name == b"eXIf" and length > EXIF_BYTES
        if name in ESSENTIAL_CHUNKS and (name == b"IDAT" or name not in seen) and not is_too_long:
            yield content[place : place + 12 + length]
        seen.add(name)
        place += 12 + length
        if name == b"IEND" or place >= len(content):
            return
    raise PictureUnreadable


def _essential_segments(content: bytes) -> Iterator[bytes]:
    """From the first scan on, all is kept."""
    place = len(JPEG_START)
    seen: set[int] = set()
    for _ in range(SEGMENTS):
        if (found := NEXT_MARKER.search(content, place)) is None:
            return
        place, marker = found.start(), int.from_bytes(found[0], "big")
        if content.startswith(START_OF_SCAN, place):
            yield content[place:]
            return
        if marker in MARKERS_ALONE:
            place += 2
            continue
        end = place + 2 + max(2, int.from_bytes(content[place + 2 : place + 4], "big"))
        if marker in FRAMES and seen & FRAMES:
            raise PictureUnreadable
        start = SEGMENT_STARTS.get(marker, b"")
        is_essential = marker in FRAMES | TABLES or (start and content.startswith(start, place + 4))
        if is_essential and (marker in REPEATED or marker not in seen):
            yield content[place:end]
            seen.add(marker)
        place = end
    raise PictureUnreadable


def check_scans(picture: Image.Image) -> None:
    """Raises ScansTooLarge; `picture` was opened and not decoded."""
    samples = held_samples(picture)
    if samples and isinstance(picture, JpegImageFile) and (scans := _count_scans(picture)) > SCANS:
        raise ScansTooLarge(
            f"The picture is a JPEG in {scans:,} scans; at most {SCANS} are allowed. Save it without the option "
            "Progressive."
        )
    if samples > HELD_SAMPLES:
        raise ScansTooLarge(
            f"The picture is a progressive JPEG of {samples:,} samples (pixels times colors); at most "
            f"{HELD_SAMPLES:,} are allowed, which are 50 megapixels with halved colors (4:2:0). Save it without "
            "the option Progressive, or smaller."
        )


def held_samples(picture: Image.Image) -> int:
    """The samples that decoding keeps in memory until the last, in two bytes each: those of a JPEG in several scans.

    `picture` was opened and not decoded. A progressive JPEG has several scans, and so has one whose first scan lacks
    some of its colors.
    """
    if not isinstance(picture, JpegImageFile) or not picture.layer or picture.fp is None:
        return 0
    if "progressive" not in picture.info and _colors_of_first_scan(picture) == picture.layers:
        return 0
    across, down = (max(layer[side] for layer in picture.layer) for side in (1, 2))
    shares = sum(layer[1] * layer[2] for layer in picture.layer)
    return picture.width * picture.height * shares // max(1, across * down)


def _count_scans(picture: JpegImageFile) -> int:
    """Counts at least as many scans as there are: within the data of a scan the marker never occurs."""
    assert picture.fp is not None  # noqa: S101 - checked by the caller
    position = picture.fp.tell()
    picture.fp.seek(0)
    count = picture.fp.read().count(START_OF_SCAN)
    picture.fp.seek(position)
    return int(count)


def _colors_of_first_scan(picture: JpegImageFile) -> int:
    """0 for a header with anything between its segments."""
    file = picture.fp
    assert file is not None  # noqa: S101 - checked by the caller
    position = file.tell()
    try:
        file.seek(2)
        while (marker := file.read(2)).startswith(b"\xff"):
            if marker == b"\xff\xff":
                file.seek(-1, os.SEEK_CUR)
                continue
            length = int.from_bytes(file.read(2), "big")
            if marker == START_OF_SCAN:
                return int.from_bytes(file.read(1), "big")
            file.seek(length - 2, os.SEEK_CUR)
        return 0
    finally:
        file.seek(position)


@contextmanager
def readable() -> Iterator[None]:
    """Raises PictureTooLarge or PictureUnreadable for what Pillow raises."""
    # No catch_warnings here: it swaps the filters of all threads, and two at once can leave them swapped.
    try:
        yield
    except PictureTooLarge:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureTooLarge from error
    except PILLOW_ERRORS as error:
        # The system's own, such as of too many open files, is no fault of the picture.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise PictureUnreadable from error


def is_jpeg(picture: Image.Image) -> bool:
    """Whether it is a JPEG, also one of several in a file, as phones write them: Pillow gives these another format."""
    return isinstance(picture, JpegImageFile)


def orientation_of(picture: Image.Image) -> int:
    """1 is upright, and from ON_ITS_SIDE on its sides are swapped. A PNG may say so only once it was decoded."""
    if not is_jpeg(picture) and "exif" not in picture.info:
        return 1
    try:
        return int(picture.getexif().get(ORIENTATION, 1) or 1)
    except (*PILLOW_ERRORS, TypeError):
        return 1


def has_transparency(picture: Image.Image) -> bool:
    return "A" in picture.getbands() or "transparency" in picture.info


def thumbnail_size(size: tuple[int, int]) -> tuple[int, int]:
    return max(1, min(THUMBNAIL[0], size[0])), max(1, min(THUMBNAIL[1], size[1]))


def highest_ink(picture: Image.Image) -> float:
    """The highest total ink of a CMYK picture in percent, but for specks; seen in a small one."""
    small = picture.resize(thumbnail_size(picture.size), Image.Resampling.BOX, reducing_gap=2.0)
    bands = [band.tobytes() for band in small.split()]
    sums = sorted((sum(inks) for inks in zip(*bands, strict=True)), reverse=True)
    return sums[int(len(sums) * INKED_SHARE)] / 2.55


def encode_picture(picture: Image.Image, form: str, **options: object) -> bytes:
    """The pixels alone in a new file. The picture itself loses what else came with it: a copy could take 200 MB."""
    picture.info = {}
    out = BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()
