"""Fits a background of another shape to its page: by cropping it, or with white margins."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from PIL import Image

from fulfillment.core.errors import Invalid
from printing.bounded import TaskFailed
from printing.press import isolation
from printing.press.reshaping import reshaped_size
from printing.typesetting import Artwork
from printing.typesetting.artwork import ARTWORK_PIXELS
from printing.typesetting.parsing import PROPORTION_TOLERANCE

RESHAPABLE = {"image/png": "PNG", "image/jpeg": "JPEG"}


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
    with Image.open(BytesIO(artwork.data), formats=[kind]) as picture:
        width, height = reshaped_size(picture.size, proportion, crop=crop)
    if width * height > ARTWORK_PIXELS:
        message = (
            f"With margins the picture would have {width:,} x {height:,} pixels; at most {ARTWORK_PIXELS:,} are "
            "allowed. Crop it, or upload a smaller one."
        )
        raise Invalid.at("/Artwork", "too_many_pixels", message)
    try:
        return isolation.reshape(artwork.data, (width, height), proportion, crop=crop)
    except (OSError, SyntaxError, ValueError, TaskFailed) as error:
        raise Invalid.at("/Artwork", "unreadable_artwork", "The picture cannot be read.") from error
