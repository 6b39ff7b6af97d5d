"""Uploaded pictures, checked by their content and never by what they claim to be."""

import struct
from collections.abc import Callable
from io import BytesIO

from PIL import Image

_UNREADABLE = (
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
    """The header claims more pixels than anything here could take."""


class PictureUnreadable(ValueError):
    """The content is not a whole picture of an allowed format."""


def open_picture(
    content: bytes, formats: tuple[str, ...], check_header: Callable[[Image.Image], None]
) -> Image.Image:
    """Decode a picture; `check_header` may refuse it before that: a small file can claim a gigantic picture."""
    # No catch_warnings here: it swaps the filters of all threads, and two at once can leave them swapped.
    try:
        source = Image.open(BytesIO(content), formats=formats)
        check_header(source)
        source.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureTooLarge from error
    except _UNREADABLE as error:
        raise PictureUnreadable from error
    return source


def has_transparency(picture: Image.Image) -> bool:
    return "A" in picture.getbands() or "transparency" in picture.info


def encoded(picture: Image.Image, form: str, **options: object) -> bytes:
    """The pixels alone in a new file. The picture itself loses what else came with it: a copy could take 200 MB."""
    picture.info = {}
    out = BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()
