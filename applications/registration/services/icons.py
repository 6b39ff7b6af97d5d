"""Application icons: uploads are checked by content and stored as re-encoded PNG."""

import hashlib

from django.db import transaction
from PIL import Image, ImageChops

from applications.registration.models import Application, ApplicationIcon
from fulfillment.core.db.changes import saved_if_changed
from fulfillment.core.errors import Invalid
from printing.pictures import (
    PictureTooLarge,
    PictureUnreadable,
    encode_picture,
    has_transparency,
    open_picture,
)

SIDE = 215
CENTRAL_SIDE = 94
MAX_ICON_BYTES = 102_400
FORMATS = {"PNG": ".png", "JPEG": ".jpg", "BMP": ".bmp"}
BACKGROUND_TOLERANCE = 16
ALLOWED = "Send one PNG, JPEG or BMP image of 215 × 215 pixels, smaller than 100 KB (102,400 bytes)."  # noqa: RUF001 - a multiplication sign is meant


@transaction.atomic
def set_icon(*, application: Application, content: bytes) -> ApplicationIcon:
    """Checks, re-encodes and stores the picture with a rendition of its center; replaces an earlier one."""
    picture = _open_icon(content)
    image, central = _encode_png(picture), _encode_png(picture.crop(_central_box()))
    values = {
        "image": image,
        "central_image": central,
        "sha256": hashlib.sha256(image).hexdigest(),
        "reaches_outside_centre": _reaches_outside_center(picture),
    }
    icons = ApplicationIcon.objects.select_for_update()
    icon, _ = icons.get_or_create(application=application, defaults=values)
    with saved_if_changed(icon):
        for column, value in values.items():
            setattr(icon, column, value)
    return icon


def check_icon(*, content: bytes) -> None:
    """Raises what `set_icon` would, for a form that shows everything at once."""
    _open_icon(content)


def _open_icon(content: bytes) -> Image.Image:
    if len(content) >= MAX_ICON_BYTES:
        hint = " A 24-bit BMP of this size is always too large. Use PNG." if content.startswith(b"BM") else ""
        raise _icon_error("icon_too_large", f"The file has {len(content):,} bytes.{hint}")
    if not content:
        raise _icon_error("icon_empty", "The file is empty.")
    try:
        source = open_picture(content, tuple(FORMATS), _check_header)
    except PictureTooLarge as error:
        raise _icon_error("icon_dimensions", "The image has far too many pixels for an icon.") from error
    except PictureUnreadable as error:
        raise _icon_error("icon_unreadable", "The file is not a readable PNG, JPEG or BMP image.") from error
    return source.convert("RGBA" if has_transparency(source) else "RGB")


def _check_header(source: Image.Image) -> None:
    """Checks the size before decoding: a small file can contain a gigantic picture."""
    if source.size != (SIDE, SIDE):
        raise _icon_error(
            "icon_dimensions",
            f"The image has {source.width} × {source.height} pixels.",  # noqa: RUF001 - a multiplication sign is meant
        )
    if getattr(source, "n_frames", 1) != 1:
        raise _icon_error("icon_animated", "The image has more than one frame.")


def _encode_png(picture: Image.Image) -> bytes:
    return encode_picture(picture, "PNG", optimize=True)


def _central_box() -> tuple[int, int, int, int]:
    margin = (SIDE - CENTRAL_SIDE) // 2
    return (margin, margin, margin + CENTRAL_SIDE, margin + CENTRAL_SIDE)


def _reaches_outside_center(picture: Image.Image) -> bool:
    """Whether anything but the color of the corner lies outside the central square."""
    rgba = picture.convert("RGBA")
    background = Image.new("RGBA", rgba.size, rgba.getpixel((0, 0)))
    difference = ImageChops.difference(rgba, background)
    marked = [
        band.point(lambda value: 255 if value > BACKGROUND_TOLERANCE else 0) for band in difference.split()
    ]
    outside = marked[0]
    for band in marked[1:]:
        outside = ImageChops.lighter(outside, band)
    outside.paste(0, _central_box())
    return outside.getbbox() is not None


def _icon_error(code: str, finding: str) -> Invalid:
    return Invalid.at("", code, f"{finding} {ALLOWED}")
