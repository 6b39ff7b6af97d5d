"""The inks of a picture, seen in a small one."""

from PIL import Image

THUMBNAIL = (64, 64)
# Too much ink on a smaller share of the thumbnail is a speck and ignored.
INKED_SHARE = 0.01


def thumbnail(size: tuple[int, int]) -> tuple[int, int]:
    return max(1, min(THUMBNAIL[0], size[0])), max(1, min(THUMBNAIL[1], size[1]))


def ink_of(picture: Image.Image) -> float:
    """The highest total ink of a CMYK picture, but for specks."""
    small = picture.resize(thumbnail(picture.size), Image.Resampling.BOX, reducing_gap=2.0)
    bands = [band.tobytes() for band in small.split()]
    sums = sorted((sum(inks) for inks in zip(*bands, strict=True)), reverse=True)
    return sums[int(len(sums) * INKED_SHARE)] / 2.55
