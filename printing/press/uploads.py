"""Uploaded pictures: checked by their content, and encoded again without metadata, in sRGB or gray."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageCms, ImageOps

from printing.errors import CodedError
from printing.pictures import (
    PILLOW_ERRORS,
    PictureTooLarge,
    PictureUnreadable,
    ScansTooLarge,
    encode_picture,
    has_transparency,
    is_jpeg,
    open_picture,
    open_undecoded,
)
from printing.press.profiles import open_profile

MAX_PIXELS = 50_000_000
FORMATS = ("PNG", "JPEG")
# The modes of Pillow, by the color space of a profile.
MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
CLEAN_JPEG = {"quality": 95, "subsampling": 0}
TOO_LARGE = ("asset_too_many_pixels", "The picture has far too many pixels.")
UNREADABLE = ("asset_unreadable", "The file is not a readable PNG or JPEG picture.")
# A picture is first divided by a whole number, down to this many times its new size: Pillow's `reducing_gap`.
REDUCING_GAP = 2.0


class UploadRefused(CodedError):
    """No ValueError, which would count as one of Pillow."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A picture that was decoded and encoded again; `form` and `plates_form` are PNG or JPEG.

    `plates` is the original, if its inks or grays differ from those of the picture.
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
        # Damaged metadata turn nothing, and are dropped with the others.
        with suppress(*PILLOW_ERRORS):
            ImageOps.exif_transpose(source, in_place=True)
        plates, plates_form = _separate_plates(source)
        upright = _in_srgb(source)
    except (PictureTooLarge, PictureUnreadable) as error:
        raise _upload_error(error) from error
    form, options = ("JPEG", CLEAN_JPEG) if is_jpeg(source) else ("PNG", {"compress_level": 4})
    return Upload(encode_picture(upright, form, **options), form, *upright.size, plates, plates_form)


def clean_in_folder(folder: Path) -> dict[str, Any]:
    """A task of printing.bounded: `picture` becomes `content` and `plates`."""
    try:
        upload = clean_upload((folder / "picture").read_bytes())
    except UploadRefused as error:
        return {"code": error.code, "message": str(error)}
    (folder / "content").write_bytes(upload.content)
    (folder / "plates").write_bytes(upload.plates)
    return {"shape": [upload.form, upload.width, upload.height], "plates_form": upload.plates_form}


def shrink_in_folder(folder: Path, size: list[int], resampling: str) -> str:
    """A task of printing.bounded: the smaller pixels, `shrunk`, and their mode."""
    with open_undecoded((folder / "picture").read_bytes(), FORMATS) as picture:
        picture.draft(None, (round(size[0] * REDUCING_GAP), round(size[1] * REDUCING_GAP)))
        shrunk = shrink_picture(picture, (size[0], size[1]), Image.Resampling[resampling])
        (folder / "shrunk").write_bytes(shrunk.tobytes())
        return shrunk.mode


def shrink_picture(picture: Image.Image, size: tuple[int, int], resampling: Image.Resampling) -> Image.Image:
    """The picture in gray, RGB, RGBA or CMYK."""
    plain = picture if picture.mode == "CMYK" else _for_screen(picture)
    return plain.resize(size, resampling, reducing_gap=REDUCING_GAP)


def decode_in_folder(folder: Path) -> bool:
    """A task of printing.bounded: whether all of `picture` can be read."""
    try:
        with open_undecoded((folder / "picture").read_bytes(), FORMATS) as picture:
            # A JPEG is read to its end at any size.
            picture.draft(None, (max(1, picture.width // 8), max(1, picture.height // 8)))
            picture.load()
    except (*PILLOW_ERRORS, Image.DecompressionBombError):
        return False
    return True


def _upload_error(error: PictureTooLarge | PictureUnreadable) -> UploadRefused:
    if isinstance(error, ScansTooLarge):
        return UploadRefused(TOO_LARGE[0], str(error))
    return UploadRefused(*(TOO_LARGE if isinstance(error, PictureTooLarge) else UNREADABLE))


def _for_screen(picture: Image.Image) -> Image.Image:
    plain = picture.mode if picture.mode in {"L", "RGB"} else "RGB"
    mode = "RGBA" if picture.has_transparency_data else plain
    return picture if picture.mode == mode else picture.convert(mode)


def _check_header(source: Image.Image) -> None:
    """Checks the size before decoding: a small file can contain a gigantic picture."""
    if source.width * source.height > MAX_PIXELS:
        message = f"The picture has {source.width:,} x {source.height:,} pixels."
        raise UploadRefused("asset_too_many_pixels", message)
    if not is_jpeg(source) and getattr(source, "n_frames", 1) != 1:
        raise UploadRefused("asset_animated", "The picture has more than one frame.")


def _separate_plates(picture: Image.Image) -> tuple[bytes, str]:
    options = _kept_plates(picture)
    if options is None:
        return b"", ""
    if is_jpeg(picture):
        info = picture.info
        plates = encode_picture(picture, "JPEG", **options)
        picture.info = info
        return plates, "JPEG"
    return encode_picture(picture.copy(), "PNG", compress_level=4), "PNG"


def _kept_plates(picture: Image.Image) -> dict[str, int] | None:
    """How to save the values of a CMYK or profiled gray picture, which the conversion to sRGB changes; else None."""
    is_gray = picture.mode == "L" and "icc_profile" in picture.info and not has_transparency(picture)
    return CLEAN_JPEG if is_gray or picture.mode == "CMYK" else None


def _in_srgb(picture: Image.Image) -> Image.Image:
    """Converts the colors, because the color profile is removed with the other metadata."""
    profile, plain = picture.info.get("icc_profile"), _simplify_mode(picture)
    converted = _convert_to_srgb(plain, profile) if profile else None
    return converted or (plain.convert("RGB") if plain.mode == "CMYK" else plain)


def _simplify_mode(picture: Image.Image) -> Image.Image:
    """The same colors in one of the modes L, RGB, RGBA and CMYK."""
    if picture.mode.startswith("I"):
        return _reduce_to_eight_bits(picture)
    if has_transparency(picture):
        return picture.convert("RGBA")
    if picture.mode in {"L", "RGB", "CMYK"}:
        return picture
    return picture.convert("L" if picture.mode == "1" else "RGB")


def _reduce_to_eight_bits(picture: Image.Image) -> Image.Image:
    """Converts a gray PNG of 16 bits; `convert` would clip nearly all of it to white."""
    wide = picture.convert("I")
    shades = wide.point([round(value / 257) for value in range(65_536)], "L")
    clear = picture.info.get("transparency")
    if clear is None:
        return shades
    opacity = wide.point([0 if value == clear else 255 for value in range(65_536)], "L")
    return Image.merge("RGBA", (shades, shades, shades, opacity))


def _convert_to_srgb(picture: Image.Image, profile: bytes) -> Image.Image | None:
    """Converts to sRGB; None if the profile is damaged, or for another color mode than the picture's."""
    try:
        own = open_profile(profile)
        mode = MODES.get(own.profile.xcolor_space.strip(), "")
        if (mode == "CMYK") != (picture.mode == "CMYK") or not mode:
            return None
        # The library converts colors only: transparency is restored afterwards.
        bands = picture if picture.mode == mode else picture.convert(mode)
        converted = ImageCms.profileToProfile(bands, own, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError):
        return None
    if converted is None:
        return None
    if picture.mode == "RGBA":
        converted.putalpha(picture.getchannel("A"))
    return converted.convert("L") if picture.mode == mode == "L" else converted
