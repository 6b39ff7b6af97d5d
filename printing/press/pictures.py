"""Pictures for the press: separated once and cached as a PDF with one image, which the writer inserts.

The typesetter sees a gray placeholder of the same proportions, so it never decodes the picture itself.
"""

import zlib
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
from PIL import Image, ImageCms, ImageOps

from printing.pictures import PILLOW_ERRORS, encode_picture, is_jpeg, open_undecoded
from printing.press.colors import Separation, separation_of
from printing.press.objects import UNPACKED, image_stream, save_pdf
from printing.press.paints import DEVICE, GRAY, OF_CMYK
from printing.press.profiles import open_profile

JPEG_QUALITY = 95
# The tolerance of proportions, as a share of a placeholder's pixel: 0.01 mm on two metres of paper.
MAX_SIDE = 800
# The longest side of a JPEG, for a placeholder that is one pixel wide.
LONGEST = 65_500
PLATE_JPEG = {"quality": 90, "subsampling": 0}
INVERTED = [1, 0] * 4
# Where the catalog of a PDF of `separate_picture` names its image.
KEPT = "/Picture"
# The version of the format: a new number renders all cached pictures again.
VERSION = 2


def reshaped_size(size: tuple[int, int], proportion: float, *, crop: bool) -> tuple[int, int]:
    """The size after cropping to the largest part of this shape, or padding to the smallest area; never enlarged."""
    width, height = size
    is_wider = width / height > proportion
    if is_wider == crop:
        return max(1, round(height * proportion)), height
    return width, max(1, round(width / proportion))


def reshape(content: bytes, proportion: float, *, crop: bool) -> bytes:
    """A PNG or JPEG in this proportion of width to height: its center, or all of it between white margins."""
    with open_undecoded(content, ("PNG", "JPEG")) as source:
        form = "JPEG" if is_jpeg(source) else "PNG"
        picture = source if source.mode in {"L", "RGB", "CMYK"} or form == "JPEG" else source.convert("RGBA")
        size = reshaped_size(picture.size, proportion, crop=crop)
        if crop:
            shaped = ImageOps.fit(picture, size, Image.Resampling.LANCZOS)
        else:
            shaped = Image.new(picture.mode, size, _find_white(picture.mode))
            shaped.paste(picture, ((size[0] - picture.width) // 2, (size[1] - picture.height) // 2))
        out = BytesIO()
        shaped.save(out, form, quality=JPEG_QUALITY, icc_profile=source.info.get("icc_profile"))
    return out.getvalue()


def reshape_in_folder(folder: Path, proportion: float, crop: bool) -> None:
    """A task of printing.bounded: `picture` becomes `shaped`."""
    (folder / "shaped").write_bytes(reshape((folder / "picture").read_bytes(), proportion, crop=crop))


def _find_white(mode: str) -> tuple[int, ...] | int:
    whites: dict[str, tuple[int, ...] | int] = {"CMYK": (0, 0, 0, 0), "L": 255}
    return whites.get(mode, (255,) * len(mode))


@dataclass(frozen=True, slots=True)
class Plate:
    """An image of a PDF, as it is stored there."""

    mode: str
    size: tuple[int, int]
    content: bytes
    is_jpeg: bool = False
    is_inverted: bool = True


def separate_picture(content: bytes, separation: Separation) -> bytes:
    """A PDF with the picture in inks. CMYK and gray pictures keep their plates."""
    with open_undecoded(content, ("PNG", "JPEG")) as source:
        if is_jpeg(source) and source.mode != "RGB" and not _is_turned(source):
            plate = Plate(source.mode, source.size, content, is_jpeg=True, is_inverted="adobe" in source.info)
            return _pdf_of(plate)
        upright = ImageOps.exif_transpose(source) if _is_turned(source) else source
        colors, mask = _separate_picture(
            upright, separation, source.info.get("icc_profile"), as_jpeg=is_jpeg(source)
        )
        # Within: an upright picture may be the file itself, not yet read.
        packed = jpeg_of(colors) if is_jpeg(source) else zlib.compress(colors.tobytes())
    transparency = None if mask is None else Plate(mask.mode, mask.size, zlib.compress(mask.tobytes()))
    return _pdf_of(Plate(colors.mode, colors.size, packed, is_jpeg=is_jpeg(source)), transparency)


def separate_in_folder(folder: Path, profile: str, highest_ink: int) -> None:
    """A task of printing.bounded: `picture` becomes `separated`."""
    separation = separation_of(Path(profile).read_bytes(), highest_ink)
    (folder / "separated").write_bytes(separate_picture((folder / "picture").read_bytes(), separation))


def has_plates(content: bytes) -> bool:
    """Whether a picture is in CMYK or gray and therefore printed unchanged under every policy."""
    try:
        with open_undecoded(content, ("PNG", "JPEG")) as source:
            return source.mode in {"1", "L", "LA", "CMYK"}
    except (OSError, SyntaxError, ValueError):
        return False


def placeholder(size: tuple[float, float], name: str) -> bytes:
    """A gray JPEG of these proportions; its comment makes it unique."""
    gray = Image.new("L", _in_pixels(max(size[0], 0.001) / max(size[1], 0.001)), 128)
    return encode_picture(gray, "JPEG", quality=50, comment=name.encode())


def _in_pixels(proportion: float) -> tuple[int, int]:
    if proportion > MAX_SIDE:
        return min(LONGEST, round(proportion)), 1
    if proportion < 1 / MAX_SIDE:
        return 1, min(LONGEST, round(1 / proportion))
    shape = Fraction(proportion).limit_denominator(MAX_SIDE)
    if shape.numerator > MAX_SIDE:
        shape = 1 / Fraction(1 / proportion).limit_denominator(MAX_SIDE)
    return max(1, shape.numerator), max(1, shape.denominator)


def _separate_picture(
    picture: Image.Image, separation: Separation, profile: bytes | None, *, as_jpeg: bool
) -> tuple[Image.Image, Image.Image | None]:
    """The inks and the transparency."""
    plain, mask = _split_alpha(picture)
    if plain.mode == "RGB":
        plain = separation.picture(_in_srgb(plain, profile), as_jpeg=as_jpeg)
    return plain, mask


def _is_turned(source: Image.Image) -> bool:
    try:
        return source.getexif().get(0x0112, 1) not in {0, 1}
    except PILLOW_ERRORS:
        return False


def _split_alpha(picture: Image.Image) -> tuple[Image.Image, Image.Image | None]:
    """The picture in mode L, RGB or CMYK, and its transparency."""
    if picture.mode in {"L", "RGB", "CMYK"} and "transparency" not in picture.info:
        return picture, None
    if picture.mode == "1":
        return picture.convert("L"), None
    if picture.mode.startswith("I"):
        return picture.convert("I").point([round(value / 257) for value in range(65_536)], "L"), None
    if picture.mode == "LA":
        return picture.getchannel("L"), picture.getchannel("A")
    if picture.mode == "P" and "transparency" not in picture.info:
        return picture.convert("RGB"), None
    clear = picture.convert("RGBA")
    return clear.convert("RGB"), clear.getchannel("A")


def _in_srgb(picture: Image.Image, profile: bytes | None) -> Image.Image:
    if not profile:
        return picture
    try:
        own = open_profile(profile)
        return ImageCms.profileToProfile(picture, own, ImageCms.createProfile("sRGB")) or picture
    except (ImageCms.PyCMSError, OSError, ValueError):
        return picture


def _pdf_of(colors: Plate, mask: Plate | None = None) -> bytes:
    pdf = pikepdf.Pdf.new()
    image = _make_image(pdf, colors)
    if mask is not None:
        image.SMask = pdf.make_indirect(_make_image(pdf, mask))
    pdf.Root[KEPT] = pdf.make_indirect(image)
    return save_pdf(pdf, static_id=True, **UNPACKED)


def _make_image(pdf: pikepdf.Pdf, plate: Plate) -> pikepdf.Stream:
    kind = OF_CMYK if plate.mode == "CMYK" else GRAY
    compression = "/DCTDecode" if plate.is_jpeg else "/FlateDecode"
    image = image_stream(pdf, plate.content, plate.size, DEVICE[kind], compression)
    if plate.is_jpeg and kind == OF_CMYK and plate.is_inverted:
        image.Decode = pikepdf.Array(INVERTED)
    return image


def jpeg_in(image: Any) -> Image.Image:
    """The JPEG of a PDF, which may say itself that its colors are no YCbCr; a marker in the JPEG counts more."""
    picture = open_undecoded(image.read_raw_bytes(), ("JPEG",))
    value = image.get("/DecodeParms")
    parameters = value[0] if isinstance(value, pikepdf.Array) and len(value) else value
    is_plain = isinstance(parameters, pikepdf.Dictionary) and parameters.get("/ColorTransform") == 0
    if is_plain and picture.mode == "RGB" and "adobe" not in picture.info:
        picture.tile = [tile._replace(args=("RGB", "RGB")) for tile in picture.tile]
    return picture


def jpeg_of(picture: Image.Image) -> bytes:
    """Encodes at the quality that JPEG_RIPPLE of the separation is for."""
    return encode_picture(picture, "JPEG", **PLATE_JPEG)
