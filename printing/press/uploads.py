"""Uploaded pictures: checked by their content, and encoded again without metadata, in sRGB or grey."""

from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from PIL import Image, ImageCms, ImageOps

from printing.pictures.pixel_files import PixelFiles
from printing.pictures.png_strips import PngStrips, PngWriter
from printing.pictures.reading import (
    PILLOW_ERRORS,
    PictureTooLarge,
    PictureUnreadable,
    ScansTooLarge,
    check_scans,
    encoded,
    has_transparency,
    is_jpeg,
    open_picture,
    readable,
)

MAXIMUM_PIXELS = 50_000_000
FORMATS = ("PNG", "JPEG")
# By the colour space of a profile.
MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
CLEAN_JPEG = {"quality": 95, "subsampling": 0}
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
    except (PictureTooLarge, PictureUnreadable) as error:
        raise _refused(error) from error
    form, options = ("JPEG", CLEAN_JPEG) if is_jpeg(source) else ("PNG", {"compress_level": 4})
    return Upload(encoded(upright, form, **options), form, *upright.size, plates, plates_form)


def clean_in_folder(folder: Path) -> dict[str, Any]:
    """A task of printing.bounded: `picture` becomes `content` and `plates`."""
    content = (folder / "picture").read_bytes()
    try:
        upload = _clean_in_strips(content, folder / "content") or _clean_in_files(content, folder)
        if upload is None:
            upload = clean_upload(content)
            (folder / "content").write_bytes(upload.content)
            (folder / "plates").write_bytes(upload.plates)
    except UploadRefused as error:
        return {"code": error.code, "message": str(error)}
    return {"shape": [upload.form, upload.width, upload.height], "plates_form": upload.plates_form}


def shrink_in_folder(folder: Path, size: list[int], resampling: str) -> str:
    """A task of printing.bounded: the smaller pixels, `shrunk`, and their mode."""
    content, method = (folder / "picture").read_bytes(), Image.Resampling[resampling]
    with Image.open(BytesIO(content), formats=FORMATS) as picture:
        picture.draft(None, (round(size[0] * REDUCING_GAP), round(size[1] * REDUCING_GAP)))
        factors = [max(1, int(of / to / REDUCING_GAP)) for of, to in zip(picture.size, size, strict=True)]
        box = (0.0, 0.0, picture.width / factors[0], picture.height / factors[1])
        reduced = _reduced(content, picture, (factors[0], factors[1]))
        (folder / "shrunk").write_bytes(reduced.resize((size[0], size[1]), method, box).tobytes())
        return reduced.mode


def decode_in_folder(folder: Path) -> bool:
    """A task of printing.bounded: whether all of `picture` can be read."""
    content = (folder / "picture").read_bytes()
    try:
        with Image.open(BytesIO(content), formats=FORMATS) as picture:
            if not is_jpeg(picture) and (strips := PngStrips(content, picture)).is_possible:
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
    except (PictureTooLarge, PictureUnreadable) as error:
        raise _refused(error) from error


def _clean_in_files(content: bytes, folder: Path) -> Upload | None:
    """Writes `content` and `plates` of a JPEG, or nothing for a PNG."""
    try:
        with readable(), Image.open(BytesIO(content), formats=FORMATS) as source, PixelFiles(folder) as files:
            if not is_jpeg(source):
                return None
            _check_header(source)
            check_scans(source)
            plates = _kept_plates(source)
            files.load(source)
            if plates is not None:
                files.save(source, lambda strip: strip, folder / "plates", **plates)
            size = files.save(source, _in_srgb, folder / "content", **CLEAN_JPEG)
            return Upload(b"", "JPEG", *size, plates_form="" if plates is None else "JPEG")
    except (PictureTooLarge, PictureUnreadable) as error:
        raise _refused(error) from error


def _refused(error: PictureTooLarge | PictureUnreadable) -> UploadRefused:
    if isinstance(error, ScansTooLarge):
        return UploadRefused(TOO_LARGE[0], str(error))
    return UploadRefused(*(TOO_LARGE if isinstance(error, PictureTooLarge) else UNREADABLE))


def _write_clean(strips: PngStrips, file: BinaryIO, size: tuple[int, int]) -> None:
    writer = None
    for strip in strips.strips():
        clean = _in_srgb(strip)
        writer = writer or PngWriter(file, clean.mode, size, level=4)
        writer.add(clean)
    if writer is not None:
        writer.close()


def _reduced(content: bytes, picture: Image.Image, factors: tuple[int, int]) -> Image.Image:
    """The picture in grey, RGB, RGBA or CMYK with its sides divided by these factors."""
    strips = None if is_jpeg(picture) else PngStrips(content, picture)
    if strips is None or not strips.is_possible:
        plain = picture if picture.mode == "CMYK" else _for_screen(picture)
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
    if not is_jpeg(source) and getattr(source, "n_frames", 1) != 1:
        raise UploadRefused("asset_animated", "The picture has more than one frame.")


def _plates(picture: Image.Image) -> tuple[bytes, str]:
    options = _kept_plates(picture)
    if options is None:
        return b"", ""
    if is_jpeg(picture):
        info = picture.info
        plates = encoded(picture, "JPEG", **options)
        picture.info = info
        return plates, "JPEG"
    return encoded(picture.copy(), "PNG", compress_level=4), "PNG"


def _kept_plates(picture: Image.Image) -> dict[str, int] | None:
    """How to save the values of a CMYK or profiled grey picture, which the conversion to sRGB changes; else None."""
    is_grey = picture.mode == "L" and "icc_profile" in picture.info and not has_transparency(picture)
    return CLEAN_JPEG if is_grey or picture.mode == "CMYK" else None


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
