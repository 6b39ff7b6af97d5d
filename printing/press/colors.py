"""Converts colors to the inks of an output condition with LittleCMS.

An uploaded profile is tried in a process of its own: LittleCMS reads it in C, and it comes from outside.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from PIL import Image, ImageCms

from printing.bounded import TaskFailed, run_bounded
from printing.press.profiles import (
    RELATIVE_COLORIMETRIC,
    ProfileInvalid,
    check_header,
    description_of,
    open_profile,
)

RGB = tuple[int, int, int]
CMYK = tuple[int, int, int, int]
BPC = ImageCms.Flags.BLACKPOINTCOMPENSATION
# For single colors, without the look-up table, which takes 0.1 s and pays off for pictures only.
UNOPTIMIZED = BPC | ImageCms.Flags.NOOPTIMIZE
FULL = 255
STEPS_OF_RGB = 18
# Cached colors of one output condition (10 MB); pages use far fewer, but artwork may hold any number.
COLORS_KNOWN = 50_000
# A JPEG of quality 90 puts at most this much more ink on single pixels of noise: 18 percent (17.4 measured).
JPEG_RIPPLE = 18 * FULL / 100
# To try an uploaded profile.
SECONDS, MEMORY_BYTES, MAX_INK = 20.0, 512 << 20, 300


class Separation:
    """Relative colorimetric with black point compensation; pure black and grays are on the K plate alone.

    `highest_ink` in percent limits what is converted: cyan, magenta and yellow give way, black does not.
    """

    def __init__(self, profile: bytes, highest_ink: int = 400) -> None:
        self._screen = ImageCms.createProfile("sRGB")
        self._press = open_profile(profile)
        self._ink = highest_ink * FULL / 100
        self._inks_by_color: dict[RGB, CMYK] = {}

    def separate_color(self, color: RGB) -> CMYK:
        """The inks of a color, 0 to 255 each."""
        red, green, blue = color
        if red == green == blue:
            return 0, 0, 0, self.black_of(red)
        return self.blend_inks(color)

    def blend_inks(self, color: RGB) -> CMYK:
        """Like `separate_color`, but grays use all inks too: a switch to K within a gradient would be visible."""
        if (inks := self._inks_by_color.get(color)) is None:
            cyan, magenta, yellow, black = _apply_transform(
                Image.new("RGB", (1, 1), color), self._few, "CMYK"
            ).tobytes()
            if len(self._inks_by_color) >= COLORS_KNOWN:
                self._inks_by_color.clear()
            inks = self._inks_by_color[color] = limit_ink((cyan, magenta, yellow, black), self._ink)
        return inks

    def of_lab(self, values: Sequence[float]) -> CMYK:
        """The inks of a color in CIE Lab under D50."""
        lightness, a, b = values
        levels = tuple(max(0, min(FULL, round(level))) for level in (lightness * 2.55, a + 128, b + 128))
        color = Image.new("LAB", (1, 1), levels)
        cyan, magenta, yellow, black = _apply_transform(color, self._of_lab, "CMYK").tobytes()
        return limit_ink((cyan, magenta, yellow, black), self._ink)

    def black_of(self, gray: int) -> int:
        """The tone on the K plate with the lightness of this gray, scaled from white paper to full black."""
        return self._blacks[gray]

    def picture(self, picture: Image.Image, *, as_jpeg: bool = False) -> Image.Image:
        """Converts an RGB picture to CMYK; with a lower ink limit if it becomes a JPEG."""
        converted = _apply_transform(picture, self._many, "CMYK")
        max_ink = self._ink - (JPEG_RIPPLE if as_jpeg else 0)
        return converted if self._heaviest <= max_ink else _limited_picture(converted, max_ink)

    def picture_on_screen(self, picture: Image.Image) -> Image.Image:
        """Converts a CMYK picture to RGB."""
        return _apply_transform(picture, self._back_many, "RGB")

    def on_screen(self, color: CMYK) -> RGB:
        red, green, blue = _apply_transform(Image.new("CMYK", (1, 1), color), self._back, "RGB").tobytes()
        return red, green, blue

    @cached_property
    def _few(self) -> ImageCms.ImageCmsTransform:
        return ImageCms.buildTransform(
            self._screen, self._press, "RGB", "CMYK", RELATIVE_COLORIMETRIC, UNOPTIMIZED
        )

    @cached_property
    def _of_lab(self) -> ImageCms.ImageCmsTransform:
        lab = ImageCms.createProfile("LAB")
        return ImageCms.buildTransform(lab, self._press, "LAB", "CMYK", RELATIVE_COLORIMETRIC, UNOPTIMIZED)

    @cached_property
    def _many(self) -> ImageCms.ImageCmsTransform:
        return ImageCms.buildTransform(self._screen, self._press, "RGB", "CMYK", RELATIVE_COLORIMETRIC, BPC)

    @cached_property
    def _back(self) -> ImageCms.ImageCmsTransform:
        return ImageCms.buildTransform(
            self._press, self._screen, "CMYK", "RGB", RELATIVE_COLORIMETRIC, UNOPTIMIZED
        )

    @cached_property
    def _back_many(self) -> ImageCms.ImageCmsTransform:
        return ImageCms.buildTransform(self._press, self._screen, "CMYK", "RGB", RELATIVE_COLORIMETRIC, BPC)

    @cached_property
    def _blacks(self) -> Sequence[int]:
        lab = ImageCms.createProfile("LAB")
        ramp = Image.new("CMYK", (FULL + 1, 1))
        ramp.putdata([(0, 0, 0, tone) for tone in range(FULL + 1)])
        tones = _measure_lightness(
            ramp, ImageCms.buildTransform(self._press, lab, "CMYK", "LAB", RELATIVE_COLORIMETRIC, UNOPTIMIZED)
        )
        grays = Image.new("RGB", (FULL + 1, 1))
        grays.putdata([(gray, gray, gray) for gray in range(FULL + 1)])
        grays_lightness = _measure_lightness(
            grays,
            ImageCms.buildTransform(self._screen, lab, "RGB", "LAB", RELATIVE_COLORIMETRIC, UNOPTIMIZED),
        )
        return _tones_as_light(tones, grays_lightness)

    @cached_property
    def _heaviest(self) -> float:
        """The highest total ink that the profile itself produces."""
        levels = [round(step * FULL / (STEPS_OF_RGB - 1)) for step in range(STEPS_OF_RGB)]
        cube = [(red, green, blue) for red in levels for green in levels for blue in levels]
        probe = Image.new("RGB", (len(cube), 1))
        probe.putdata(cube)
        content = _apply_transform(probe, self._many, "CMYK").tobytes()
        return float(max(sum(content[start : start + 4]) for start in range(0, len(content), 4)))


def _apply_transform(picture: Image.Image, transform: ImageCms.ImageCmsTransform, mode: str) -> Image.Image:
    """Replaces `transform.apply`, which takes 30 ms more to write the whole profile for each picture."""
    converted = Image.new(mode, picture.size)
    transform.transform.apply(picture.getim(), converted.getim())
    return converted


def _measure_lightness(picture: Image.Image, transform: ImageCms.ImageCmsTransform) -> list[float]:
    return [float(level) for level in _apply_transform(picture, transform, "LAB").tobytes()[::3]]


def _tones_as_light(tones: Sequence[float], lightnesses: Sequence[float]) -> list[int]:
    """Finds tones by lightness between paper and full black; of several with equal lightness the middle one."""
    paper, black = tones[0], tones[FULL]
    darkness = [paper - tone for tone in tones]
    for number in range(1, len(darkness)):
        darkness[number] = max(darkness[number], darkness[number - 1])
    matching_tones = []
    for lightness in lightnesses:
        dark = (1 - lightness / lightnesses[FULL]) * (paper - black)
        first = bisect_left(darkness, dark - 1e-9)
        last = bisect_left(darkness, darkness[min(first, FULL)] + 1e-9) - 1
        matching_tones.append(min(FULL, (first + last) // 2))
    return [FULL, *matching_tones[1:FULL], 0]


def limit_ink(color: CMYK, ink: float) -> CMYK:
    cyan, magenta, yellow, black = color
    chromatic = cyan + magenta + yellow
    if chromatic + black <= ink or not chromatic:
        return color
    factor = max(0.0, ink - black) / chromatic
    return int(cyan * factor), int(magenta * factor), int(yellow * factor), black


def _limited_picture(picture: Image.Image, ink: float) -> Image.Image:
    """Limits the ink strip by strip, so that large pictures need little extra memory."""
    strip = max(1, 2_000_000 // max(1, picture.width))
    for top in range(0, picture.height, strip):
        box = (0, top, picture.width, min(top + strip, picture.height))
        picture.paste(_limited_strip(picture.crop(box), ink), box)
    return picture


def _limited_strip(strip: Image.Image, ink: float) -> Image.Image:
    import numpy as np  # noqa: PLC0415 - heavy, and only for presets that allow less ink than their profile

    inks = np.array(strip)
    cyan, magenta, yellow, black = np.moveaxis(inks, 2, 0)
    over = cyan.astype(np.uint16) + magenta + yellow + black > ink
    if not over.any():
        return strip
    heavy = inks[over].astype(np.float32)
    room = np.maximum(ink - heavy[:, 3], 0)
    heavy[:, :3] *= (room / np.maximum(heavy[:, :3].sum(axis=1), 1)).clip(max=1)[:, None]
    inks[over] = heavy.astype(np.uint8)
    return Image.fromarray(inks, "CMYK")


@lru_cache(maxsize=4)
def separation_of(profile: bytes, highest_ink: int) -> Separation:
    return Separation(profile, highest_ink)


def read_profile(content: bytes) -> str:
    """The description of a profile that can be printed with; raises ProfileInvalid with the fault."""
    check_header(content)
    unusable = ProfileInvalid("profile_unusable", "LittleCMS cannot convert colors with the profile.")
    task, files = "printing.press.colors:try_in_folder", {"profile": content}
    try:
        with run_bounded(task, files, seconds=SECONDS, memory=MEMORY_BYTES) as (reply, _):
            if "description" not in reply:
                raise unusable
            return str(reply["description"])
    except TaskFailed as error:
        raise unusable from error


def try_in_folder(folder: Path) -> dict[str, Any]:
    """Converts colors and a picture in every way that print files and proofs need."""
    content = (folder / "profile").read_bytes()
    try:
        inks = Separation(content, MAX_INK)
        inks.separate_color((255, 0, 0))
        inks.of_lab((50.0, 20.0, -20.0))
        inks.black_of(128)
        inks.on_screen((255, 128, 0, 64))
        inks.picture_on_screen(inks.picture(Image.linear_gradient("L").convert("RGB")))
        return {"description": description_of(content)}
    except Exception as error:  # noqa: BLE001 - a fault here would be one of each print file
        return {"fault": type(error).__name__}
