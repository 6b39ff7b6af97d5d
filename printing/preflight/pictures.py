"""Facts about pictures, read once and cached: size, colors and a thumbnail."""

import hashlib
from dataclasses import dataclass

from PIL import Image, ImageStat

from printing.bounded import TaskFailed
from printing.caches import WeightedCache
from printing.pictures import THUMBNAIL, highest_ink, open_undecoded, thumbnail_size
from printing.press import isolation
from printing.press.uploads import shrink_picture

CACHE_BYTES = 8_000_000
FLAT = 3


@dataclass(frozen=True, slots=True)
class PictureFacts:
    """`ink` is the highest total ink in percent that more than specks of a CMYK picture have, else None."""

    width: int
    height: int
    mode: str
    has_profile: bool
    is_flat: bool
    is_clear: bool
    ink: float | None
    thumbnail: Image.Image


picture_cache: WeightedCache[str, PictureFacts] = WeightedCache(
    capacity=CACHE_BYTES, weight=lambda facts: 500 + 3 * facts.thumbnail.width * facts.thumbnail.height
)


def facts_of(content: bytes, digest: str | None = None) -> PictureFacts | None:
    """Reads the facts of a picture; None if it is no readable PNG or JPEG. `digest` identifies known content."""
    digest = digest or hashlib.sha256(content).hexdigest()
    try:
        return picture_cache.get_or_make(digest, lambda: _read_facts(content))
    except (
        OSError,
        TaskFailed,
        SyntaxError,
        ValueError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ):
        return None


def _read_facts(content: bytes) -> PictureFacts:
    with open_undecoded(content, ["PNG", "JPEG"]) as picture:
        width, height, mode = *picture.size, picture.mode
        has_profile = "icc_profile" in picture.info
        is_large = isolation.is_large_at_any_size(picture)
        picture.draft(None, THUMBNAIL)
        size = thumbnail_size((width, height))
        small = (
            isolation.shrink(content, size, "BOX")
            if is_large
            else shrink_picture(picture, size, Image.Resampling.BOX)
        )
    clear = small.mode == "RGBA" and small.getchannel("A").getextrema()[1] == 0
    ink = highest_ink(small) if small.mode == "CMYK" else None
    on_white = Image.new("RGB", small.size, "white")
    if small.mode == "RGBA":
        on_white.paste(small, mask=small.getchannel("A"))
    else:
        on_white = small.convert("RGB")
    # A screen shows all dark inks as one single black.
    compared = small if small.mode == "CMYK" else on_white
    flat = all(high - low <= FLAT for low, high in ImageStat.Stat(compared).extrema)
    return PictureFacts(width, height, mode, has_profile, flat, clear, ink, on_white)
