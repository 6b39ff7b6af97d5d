"""Fits a background of another shape to its page: by cropping it, or with white margins."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from PIL import Image, ImageOps

from fulfillment.core.errors import Invalid
from stores.typesetting import Artwork
from stores.typesetting.parsing import PROPORTION_TOLERANCE

RESHAPABLE = {"image/png": "PNG", "image/jpeg": "JPEG"}
JPEG_QUALITY = 95


def page_proportion(page: Mapping[str, Any]) -> float | None:
    """The width of the page with its bleed for each unit of its height; None while its size is wrong."""
    try:
        bleed = 2 * float(page.get("BleedMM") or 0)
        width, height = float(page["WidthMM"]) + bleed, float(page["HeightMM"]) + bleed
    except (KeyError, TypeError, ValueError):
        return None
    return width / height if width > 0 and height > 0 else None


def has_shape_of(artwork: Artwork, page: Mapping[str, Any]) -> bool:
    """Applies the check of templates. A PDF passes, because only rendering can measure it."""
    proportion = page_proportion(page)
    if proportion is None:
        return False
    return not artwork.height or abs(artwork.width / artwork.height / proportion - 1) <= PROPORTION_TOLERANCE


def wrong_shape(artwork: Artwork, page: Mapping[str, Any]) -> str:
    bleed = 2 * float(page.get("BleedMM") or 0)
    width, height = float(page["WidthMM"]) + bleed, float(page["HeightMM"]) + bleed
    return (
        f"{artwork.name} is {artwork.width:g} by {artwork.height:g}; the page with its bleed is"
        f" {width:g} by {height:g} mm, which is another shape. The background of the page is unchanged."
    )


def reshape_background(*, artwork: Artwork, page: Mapping[str, Any], crop: bool) -> bytes:
    """The picture in the page's shape with its bleed: its centre, or all of it between white margins."""
    kind = RESHAPABLE.get(artwork.media_type)
    proportion = page_proportion(page)
    if kind is None or proportion is None:
        message = "Only a PNG or JPEG can be cropped or fitted, on a page that has a size."
        raise Invalid.at("/Artwork", "not_reshapable", message)
    with Image.open(BytesIO(artwork.data), formats=[kind]) as opened:
        picture = opened if opened.mode in {"L", "RGB", "CMYK"} or kind == "JPEG" else opened.convert("RGBA")
        size = _size(picture.size, proportion, crop=crop)
        if crop:
            shaped = ImageOps.fit(picture, size, Image.Resampling.LANCZOS)
        else:
            ground = Image.new(picture.mode, size, _white(picture.mode))
            ground.paste(picture, ((size[0] - picture.width) // 2, (size[1] - picture.height) // 2))
            shaped = ground
        out = BytesIO()
        shaped.save(out, kind, quality=JPEG_QUALITY, icc_profile=opened.info.get("icc_profile"))
    return out.getvalue()


def _size(size: tuple[int, int], proportion: float, *, crop: bool) -> tuple[int, int]:
    """The size after cropping to the largest part of this shape, or padding to the smallest area; never enlarged."""
    width, height = size
    is_wider = width / height > proportion
    if is_wider == crop:
        return max(1, round(height * proportion)), height
    return width, max(1, round(width / proportion))


def _white(mode: str) -> Any:
    return {"CMYK": (0, 0, 0, 0), "L": 255}.get(mode, (255,) * len(mode))
