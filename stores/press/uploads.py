"""Uploaded pictures: checked by their content, and encoded again without metadata, in sRGB or grey."""

from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from PIL import Image, ImageCms, ImageOps

from fulfillment.core.files.pictures import (
    PILLOW_ERRORS,
    PictureTooLarge,
    PictureUnreadable,
    encoded,
    has_transparency,
    open_picture,
    readable,
)
from fulfillment.core.files.png_strips import PngStrips, PngWriter

MAXIMUM_PIXELS = 50_000_000
FORMATS = ("PNG", "JPEG")
# By the colour space of a profile.
MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
TOO_LARGE = ("asset_too_many_pixels", "The picture has far too many pixels.")
UNREADABLE = ("asset_unreadable", "The file is not a readable PNG or JPEG picture.")
# A picture is first divided by a whole number, down to this many times its new size: Pillow's `reducing_gap`.
REDUCING_GAP = 2.0


class UploadRefused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Upload:
    """A picture that was decoded and encoded again; `form` and `plates_form` are PNG or JPEG.

    `plates` is the original, if its inks or greys differ from those of the picture.
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
        plates, plates_form = _plates(source)
        upright = _in_srgb(source)
    except PictureTooLarge as error:
        raise UploadRefused(*TOO_LARGE) from error
    except PictureUnreadable as error:
        raise UploadRefused(*UNREADABLE) from error
    if source.format == "PNG":
        clean = encoded(upright, "PNG", compress_level=4)
    else:
        clean = encoded(upright, "JPEG", quality=95, subsampling=0)
    return Upload(clean, source.format or "", *upright.size, plates, plates_form)


def clean_in_folder(folder: Path) -> dict[str, Any]:
    """A task of fulfillment.core.bounded: `picture` becomes `content` and `plates`."""
    content = (folder / "picture").read_bytes()
    try:
        upload = _clean_in_strips(content, folder / "content")
        if upload is None:
            upload = clean_upload(content)
            (folder / "content").write_bytes(upload.content)
    except UploadRefused as error:
        return {"code": error.code, "message": str(error)}
    (folder / "plates").write_bytes(upload.plates)
    return {"shape": [upload.form, upload.width, upload.height], "plates_form": upload.plates_form}


def shrink_in_folder(folder: Path, size: list[int], resampling: str) -> None:
    """A task of fulfillment.core.bounded: a smaller `shrunk` of a PNG."""
    content, method = (folder / "picture").read_bytes(), Image.Resampling[resampling]
    with Image.open(BytesIO(content), formats=["PNG"]) as picture:
        factors = [max(1, int(of / to / REDUCING_GAP)) for of, to in zip(picture.size, size, strict=True)]
        box = (0.0, 0.0, picture.width / factors[0], picture.height / factors[1])
        reduced = _reduced(content, picture, (factors[0], factors[1]))
    reduced.resize((size[0], size[1]), method, box).save(folder / "shrunk", "PNG")


def decode_in_folder(folder: Path) -> bool:
    """A task of fulfillment.core.bounded: whether all of `picture` can be read."""
    content = (folder / "picture").read_bytes()
    try:
        with Image.open(BytesIO(content), formats=FORMATS) as picture:
            if picture.format == "PNG" and (strips := PngStrips(content, picture)).is_possible:
                deque(strips.strips(), maxlen=0)
                return True
            # A JPEG is read to its end at any size.
            picture.draft(None, (max(1, picture.width // 8), max(1, picture.height // 8)))
            picture.load()
    except (*PILLOW_ERRORS, Image.DecompressionBombError):
        return False
    return True


def _clean_in_strips(content: bytes, target: Path) -> Upload | None:
    """Writes a clean PNG to `target`, or nothing where the picture must be whole in memory."""
    try:
        with readable(), Image.open(BytesIO(content), formats=FORMATS) as source:
            _check_header(source)
            if source.format != "PNG" or (source.mode == "L" and "icc_profile" in source.info):
                return None
            strips = PngStrips(content, source)
            if not strips.is_possible or strips.may_be_turned:
                return None
            with target.open("wb") as file:
                _write_clean(strips, file, source.size)
            return Upload(b"", "PNG", *source.size)
    except PictureTooLarge as error:
        raise UploadRefused(*TOO_LARGE) from error
    except PictureUnreadable as error:
        raise UploadRefused(*UNREADABLE) from error


def _write_clean(strips: PngStrips, file: BinaryIO, size: tuple[int, int]) -> None:
    writer = None
    for strip in strips.strips():
        clean = _in_srgb(strip)
        writer = writer or PngWriter(file, clean.mode, size, level=4)
        writer.add(clean)
    if writer is not None:
        writer.close()


def _reduced(content: bytes, picture: Image.Image, factors: tuple[int, int]) -> Image.Image:
    """The picture in grey, RGB or RGBA with its sides divided by these factors."""
    strips = PngStrips(content, picture)
    if not strips.is_possible:
        plain = _for_screen(picture)
        return plain if factors == (1, 1) else plain.reduce(factors)
    reduced, top = None, 0
    for strip in strips.strips(multiple=factors[1]):
        small = _for_screen(strip).reduce(factors)
        if reduced is None:
            size = (small.width, -(-picture.height // factors[1]))
            reduced = Image.new(small.mode, size)
        reduced.paste(small, (0, top))
        top += small.height
    assert reduced is not None  # noqa: S101 - a picture has a row
    return reduced


def _for_screen(picture: Image.Image) -> Image.Image:
    plain = picture.mode if picture.mode in {"L", "RGB"} else "RGB"
    mode = "RGBA" if picture.has_transparency_data else plain
    return picture if picture.mode == mode else picture.convert(mode)


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
        info = picture.info
        plates = encoded(picture, "JPEG", quality=95, subsampling=0)
        picture.info = info
        return plates, "JPEG"
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
        bands = picture if picture.mode == mode else picture.convert(mode)
        converted = ImageCms.profileToProfile(bands, own, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError):
        return None
    if converted is None:
        return None
    if picture.mode == "RGBA":
        converted.putalpha(picture.getchannel("A"))
    return converted.convert("L") if picture.mode == mode == "L" else converted
