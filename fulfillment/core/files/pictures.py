"""Uploaded pictures, checked by their content and never by their declared type."""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO

from PIL import Image

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


class PictureTooLarge(ValueError):
    """The header declares more pixels than the service accepts."""


class PictureUnreadable(ValueError):
    """The content is not a whole picture of an allowed format."""


def open_picture(
    content: bytes, formats: tuple[str, ...], check_header: Callable[[Image.Image], None]
) -> Image.Image:
    """Decode a picture; `check_header` may refuse it before that: a small file can claim a gigantic picture."""
    with readable():
        source = Image.open(BytesIO(content), formats=formats)
        check_header(source)
        source.load()
    return source


@contextmanager
def readable() -> Iterator[None]:
    """Raises PictureTooLarge or PictureUnreadable for what Pillow raises."""
    # No catch_warnings here: it swaps the filters of all threads, and two at once can leave them swapped.
    try:
        yield
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureTooLarge from error
    except PILLOW_ERRORS as error:
        raise PictureUnreadable from error


def has_transparency(picture: Image.Image) -> bool:
    return "A" in picture.getbands() or "transparency" in picture.info


def encoded(picture: Image.Image, form: str, **options: object) -> bytes:
    """The pixels alone in a new file. The picture itself loses what else came with it: a copy could take 200 MB."""
    picture.info = {}
    out = BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()
