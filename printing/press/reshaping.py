"""Crops a picture to another shape, or adds white margins."""

from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps

from printing.pictures.reading import is_jpeg

JPEG_QUALITY = 95


def reshaped_size(size: tuple[int, int], proportion: float, *, crop: bool) -> tuple[int, int]:
    """The size after cropping to the largest part of this shape, or padding to the smallest area; never enlarged."""
    width, height = size
    is_wider = width / height > proportion
    if is_wider == crop:
        return max(1, round(height * proportion)), height
    return width, max(1, round(width / proportion))


def reshape(content: bytes, proportion: float, *, crop: bool) -> bytes:
    """A PNG or JPEG in this proportion of width to height: its centre, or all of it between white margins."""
    with Image.open(BytesIO(content), formats=["PNG", "JPEG"]) as opened:
        form = "JPEG" if is_jpeg(opened) else "PNG"
        picture = opened if opened.mode in {"L", "RGB", "CMYK"} or form == "JPEG" else opened.convert("RGBA")
        size = reshaped_size(picture.size, proportion, crop=crop)
        if crop:
            shaped = ImageOps.fit(picture, size, Image.Resampling.LANCZOS)
        else:
            shaped = Image.new(picture.mode, size, _white(picture.mode))
            shaped.paste(picture, ((size[0] - picture.width) // 2, (size[1] - picture.height) // 2))
        out = BytesIO()
        shaped.save(out, form, quality=JPEG_QUALITY, icc_profile=opened.info.get("icc_profile"))
    return out.getvalue()


def reshape_in_folder(folder: Path, proportion: float, crop: bool) -> None:
    """A task of printing.bounded: `picture` becomes `shaped`."""
    (folder / "shaped").write_bytes(reshape((folder / "picture").read_bytes(), proportion, crop=crop))


def _white(mode: str) -> tuple[int, ...] | int:
    whites: dict[str, tuple[int, ...] | int] = {"CMYK": (0, 0, 0, 0), "L": 255}
    return whites.get(mode, (255,) * len(mode))
