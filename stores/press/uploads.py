"""Uploaded pictures: checked by their content, and encoded again without metadata, in sRGB or grey."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageCms, ImageOps

from fulfillment.core.files.pictures import (
    PictureTooLarge,
    PictureUnreadable,
    encoded,
    has_transparency,
    open_picture,
)

MAXIMUM_PIXELS = 50_000_000
FORMATS = ("PNG", "JPEG")
# By the colour space of a profile.
MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}


class UploadRefused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Upload:
    """A picture that was decoded and encoded again; `form` and `plates_form` are PNG or JPEG.

    `plates` is the picture as it was sent, where its own inks or greys are others than those of the picture.
    """

    content: bytes
    form: str
    width: int
    height: int
    plates: bytes = b""
    plates_form: str = ""


def clean_upload(content: bytes) -> Upload:
    """Raises UploadRefused."""
    try:
        source = open_picture(content, FORMATS, _check_header)
        ImageOps.exif_transpose(source, in_place=True)
        plates, plates_form = _plates(source)
        upright = _in_srgb(source)
    except PictureTooLarge as error:
        raise UploadRefused("asset_too_many_pixels", "The picture has far too many pixels.") from error
    except PictureUnreadable as error:
        raise UploadRefused("asset_unreadable", "The file is not a readable PNG or JPEG picture.") from error
    if source.format == "PNG":
        clean = encoded(upright, "PNG", compress_level=4)
    else:
        clean = encoded(upright, "JPEG", quality=95, subsampling=0)
    return Upload(clean, source.format or "", *upright.size, plates, plates_form)


def clean_in_folder(folder: Path) -> dict[str, Any]:
    """A task of fulfillment.core.bounded: `picture` becomes `content` and `plates`."""
    try:
        upload = clean_upload((folder / "picture").read_bytes())
    except UploadRefused as error:
        return {"code": error.code, "message": str(error)}
    (folder / "content").write_bytes(upload.content)
    (folder / "plates").write_bytes(upload.plates)
    return {"shape": [upload.form, upload.width, upload.height], "plates_form": upload.plates_form}


def shrink_in_folder(folder: Path, size: list[int], resampling: str) -> None:
    """A task of fulfillment.core.bounded: a smaller `shrunk` of a PNG."""
    with Image.open(folder / "picture", formats=["PNG"]) as picture:
        mode = picture.mode if picture.mode in {"L", "RGB"} else "RGB"
        plain = picture.convert("RGBA" if picture.has_transparency_data else mode)
        method = Image.Resampling[resampling]
        plain.resize((size[0], size[1]), method, reducing_gap=2.0).save(folder / "shrunk", "PNG")


def decode_in_folder(folder: Path) -> bool:
    """A task of fulfillment.core.bounded: whether all of `picture` can be read."""
    try:
        with Image.open(folder / "picture", formats=FORMATS) as picture:
            picture.load()
    except (OSError, SyntaxError, ValueError):
        return False
    return True


def _check_header(source: Image.Image) -> None:
    """Checks the size before decoding: a small file can contain a gigantic picture."""
    if source.width * source.height > MAXIMUM_PIXELS:
        size = f"{source.width:,} x {source.height:,} pixels"
        raise UploadRefused("asset_too_many_pixels", f"The picture has {size}.")
    if source.format == "PNG" and getattr(source, "n_frames", 1) != 1:
        raise UploadRefused("asset_animated", "The picture has more than one frame.")


def _plates(picture: Image.Image) -> tuple[bytes, str]:
    """The values of a picture in CMYK, and of a grey one with a profile, which the conversion to sRGB changes."""
    if picture.mode == "CMYK":
        return encoded(picture.copy(), "JPEG", quality=95, subsampling=0), "JPEG"
    if picture.mode == "L" and "icc_profile" in picture.info and not has_transparency(picture):
        if picture.format == "PNG" or picture.format is None:
            return encoded(picture.copy(), "PNG", compress_level=4), "PNG"
        return encoded(picture.copy(), "JPEG", quality=95), "JPEG"
    return b"", ""


def _in_srgb(picture: Image.Image) -> Image.Image:
    """Converts the colours, because the colour profile is removed with the other metadata."""
    profile, plain = picture.info.get("icc_profile"), _plain(picture)
    converted = _converted(plain, profile) if profile else None
    return converted or (plain.convert("RGB") if plain.mode == "CMYK" else plain)


def _plain(picture: Image.Image) -> Image.Image:
    """The same colours in one of the modes L, RGB, RGBA and CMYK."""
    if picture.mode.startswith("I"):
        return _of_eight_bits(picture)
    if has_transparency(picture):
        return picture.convert("RGBA")
    if picture.mode in {"L", "RGB", "CMYK"}:
        return picture
    return picture.convert("L" if picture.mode == "1" else "RGB")


def _of_eight_bits(picture: Image.Image) -> Image.Image:
    """Converts a grey PNG of 16 bits; `convert` would clip nearly all of it to white."""
    wide = picture.convert("I")
    shades = wide.point([round(value / 257) for value in range(65_536)], "L")
    clear = picture.info.get("transparency")
    if clear is None:
        return shades
    shown = wide.point([0 if value == clear else 255 for value in range(65_536)], "L")
    return Image.merge("RGBA", (shades, shades, shades, shown))


def _converted(picture: Image.Image, profile: bytes) -> Image.Image | None:
    """None if the profile is damaged, or for another colour mode than the picture's."""
    try:
        own = ImageCms.ImageCmsProfile(BytesIO(profile))
        mode = MODES.get(own.profile.xcolor_space.strip(), "")
        if (mode == "CMYK") != (picture.mode == "CMYK") or not mode:
            return None
        # The library converts colours only: transparency is restored afterwards.
        bands = picture.convert(mode)
        converted = ImageCms.profileToProfile(bands, own, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):
        return None
    if converted is None:
        return None
    if picture.mode == "RGBA":
        converted.putalpha(picture.getchannel("A"))
    return converted.convert("L") if picture.mode == mode == "L" else converted
