"""RGB with a profile of its own, such as that of a camera or of a screen: its colors become sRGB first."""

from functools import lru_cache
from itertools import product

import pikepdf
from PIL import Image, ImageCms

from printing.press.colors import BPC, RGB
from printing.press.profiles import PROFILE_BYTES, RELATIVE_COLORIMETRIC, open_profile

# Profiles of sRGB differ in the last digits. So many levels of 256 are not seen.
SAME_LEVELS = 3
PROBE = [tuple(color) for color in product(range(0, 256, 51), repeat=3)]


class Tagged(str):
    """The kind of colors with this profile; its name begins with that of the plain kind."""

    _transform: ImageCms.ImageCmsTransform

    def __new__(cls, plain: str, profile: bytes) -> "Tagged":
        kind = super().__new__(cls, f"{plain} {hash(profile)}")
        own, screen = open_profile(profile), ImageCms.createProfile("sRGB")
        kind._transform = ImageCms.buildTransform(own, screen, "RGB", "RGB", RELATIVE_COLORIMETRIC, BPC)
        return kind

    def picture(self, picture: Image.Image) -> Image.Image:
        """Changes the picture itself, so that a large one is in memory once."""
        ImageCms.applyTransform(picture, self._transform, inPlace=True)
        return picture

    def color(self, color: RGB) -> RGB:
        red, green, blue = self.picture(Image.new("RGB", (1, 1), color)).tobytes()
        # What is gray stays gray: on the K plate alone.
        return (green,) * 3 if len(set(color)) == 1 else (red, green, blue)


class Profiles:
    """The profiles of one file, in which many color spaces name the same profile."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[int, int], str] = {}

    def kind(self, plain: str, profile: pikepdf.Object) -> str:
        """The plain kind itself for sRGB, and for a profile that cannot be used."""
        if profile.objgen not in self._kinds:
            self._kinds[profile.objgen] = _read_kind(plain, profile)
        return self._kinds[profile.objgen]


def _read_kind(plain: str, profile: pikepdf.Object) -> str:
    try:
        content = profile.read_bytes()
    except pikepdf.PdfError:
        return plain
    return _tagged_kind(plain, content) if len(content) <= PROFILE_BYTES else plain


@lru_cache(maxsize=8)
def _tagged_kind(plain: str, profile: bytes) -> str:
    try:
        kind = Tagged(plain, profile)
    except (ImageCms.PyCMSError, OSError, ValueError):
        return plain
    probe = Image.new("RGB", (len(PROBE), 1))
    probe.putdata(PROBE)
    before = probe.tobytes()
    changes = (
        abs(level - converted) for level, converted in zip(before, kind.picture(probe).tobytes(), strict=True)
    )
    return kind if max(changes) > SAME_LEVELS else plain
