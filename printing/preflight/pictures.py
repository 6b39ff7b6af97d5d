"""Facts about pictures, read once and cached: size, colours and a thumbnail."""

import hashlib
import io
from dataclasses import dataclass

from PIL import Image, ImageStat

from printing.bounded import TaskFailed
from printing.caches import WeightedCache
from printing.press import isolation

THUMBNAIL = (64, 64)
CACHE_BYTES = 8_000_000
# Too much ink on a smaller share of the thumbnail is a speck and ignored.
INKED_SHARE = 0.01
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
    capacity=CACHE_BYTES, weight=lambda one: 500 + 3 * one.thumbnail.width * one.thumbnail.height
)


def facts_of(content: bytes, digest: str | None = None) -> PictureFacts | None:
    """None for a file that is no readable PNG or JPEG; `digest` identifies the content if known."""
    digest = digest or hashlib.sha256(content).hexdigest()
    try:
        return picture_cache.get_or_make(digest, lambda: _read(content))
    except (
        OSError,
        TaskFailed,
        SyntaxError,
        ValueError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ):
        return None


def _read(content: bytes) -> PictureFacts:
    with Image.open(io.BytesIO(content), formats=["PNG", "JPEG"]) as picture:
        width, height, mode = *picture.size, picture.mode
        has_profile = "icc_profile" in picture.info
        is_large = isolation.is_large_at_any_size(picture)
        picture.draft(None, THUMBNAIL)
        small = isolation.shrink(content, _thumbnail((width, height)), "BOX") if is_large else _small(picture)
    clear = small.mode == "RGBA" and small.getchannel("A").getextrema()[1] == 0
    ink = ink_of(small) if small.mode == "CMYK" else None
    shown = Image.new("RGB", small.size, "white")
    if small.mode == "RGBA":
        shown.paste(small, mask=small.getchannel("A"))
    else:
        shown = small.convert("RGB")
    # Of dark inks a screen shows one single black.
    seen = small if small.mode == "CMYK" else shown
    flat = all(high - low <= FLAT for low, high in ImageStat.Stat(seen).extrema)
    return PictureFacts(width, height, mode, has_profile, flat, clear, ink, shown)


def _small(picture: Image.Image) -> Image.Image:
    if picture.has_transparency_data:
        plain = picture.convert("RGBA")
    elif picture.mode in {"L", "RGB", "CMYK"}:
        plain = picture
    else:
        plain = picture.convert("RGB")
    return plain.resize(_thumbnail(plain.size), Image.Resampling.BOX, reducing_gap=2.0)


def _thumbnail(size: tuple[int, int]) -> tuple[int, int]:
    return max(1, min(THUMBNAIL[0], size[0])), max(1, min(THUMBNAIL[1], size[1]))


def ink_of(picture: Image.Image) -> float:
    """The highest total ink of a CMYK picture, but for specks."""
    small = picture.resize(_thumbnail(picture.size), Image.Resampling.BOX, reducing_gap=2.0)
    bands = [band.tobytes() for band in small.split()]
    sums = sorted((sum(inks) for inks in zip(*bands, strict=True)), reverse=True)
    return sums[int(len(sums) * INKED_SHARE)] / 2.55
