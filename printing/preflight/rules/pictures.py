"""Rules for pictures in boxes and backgrounds: resolution, colors, empty pictures."""

from collections.abc import Iterator
from operator import itemgetter

from printing.area import Area
from printing.artwork.parts import Part
from printing.preflight.pictures import PictureFacts, facts_of
from printing.preflight.rules.artwork import color_ink_too_much
from printing.preflight.rules.rule import (
    STRICT_WHEN_CONVERTED,
    WARNING,
    WHEN_CONVERTED,
    RuleMatch,
    match_behind,
    match_of,
    rule,
)
from printing.preflight.sheet import Background, CheckedSheet
from printing.typesetting.scaling import printed_dpi

DISTORTED = 0.05
RASTERS = frozenset({"image/png", "image/jpeg"})


@rule(
    WARNING,
    "has too few pixels for its printed size and will look blurred",
    "Send a larger picture, or print it smaller.",
)
def resolution_low(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for picture, facts in sheet.pictures:
        wanted = sheet.limits.resolution_of(picture.page.width, picture.page.height)
        found = printed_dpi(picture.box, (facts.width, facts.height))
        if round(found) < round(wanted):
            yield match_of(picture, f"{found:.0f} ppi", f"{wanted:.0f} ppi")
    for behind in sheet.backgrounds:
        wanted = sheet.limits.resolution_of(behind.page.width, behind.page.height)
        if behind.artwork.media_type in RASTERS:
            found = behind.artwork.width / (behind.page.width + 2 * behind.page.bleed) * 25.4
            if round(found) < round(wanted):
                yield match_behind(behind, None, f"{found:.0f} ppi", f"{wanted:.0f} ppi")
            continue
        for part in behind.facts.of_kind(Part.PICTURE):
            found = part.size / behind.unit_mm * 25.4 if behind.unit_mm else 0.0
            if 0 < round(found) < round(wanted):
                yield match_behind(behind, part.area, f"{found:.0f} ppi", f"{wanted:.0f} ppi")


@rule(
    WHEN_CONVERTED,
    "is an RGB picture, and converting it to the press's inks makes bright colors duller",
    "Check the colors in the soft proof, or send a CMYK picture.",
)
def picture_rgb(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for picture, facts in sheet.pictures:
        if facts.mode in {"RGB", "RGBA", "P"}:
            yield match_of(picture, "RGB", "CMYK or gray")
    for behind in sheet.backgrounds:
        facts_behind = _find_raster(behind)
        if facts_behind is not None and facts_behind.mode in {"RGB", "RGBA", "P"}:
            yield match_behind(behind, None, "RGB", "CMYK or gray")
        for part in behind.facts.of_kind(Part.PICTURE):
            if part.name.startswith("RGB"):
                yield match_behind(behind, part.area, "RGB", "CMYK or gray")


@rule(
    WHEN_CONVERTED,
    "has letters, shapes or gradients in RGB, and converting them to the press's inks makes bright colors duller",
    "Check the colors in the soft proof, or export the PDF in CMYK.",
)
def artwork_rgb(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for behind, part in sheet.parts_behind(Part.RGB):
        yield match_behind(behind, part.area, "RGB", "CMYK, gray or spot colors")


@rule(
    WARNING,
    "has CMYK colors without a profile, so their printed look is unknown",
    "Save the picture with its ICC profile.",
)
def picture_untagged(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """CMYK numbers without a profile name no colors; RGB and gray without one are sRGB by convention.

    In a PDF they are inks of the press that it is made for.
    """
    for picture, facts in sheet.pictures:
        if facts.mode == "CMYK" and not facts.has_profile and picture.box.field not in sheet.job.plated:
            yield match_of(picture, "CMYK without a profile", "an ICC profile")
    for behind in sheet.backgrounds:
        raster = _find_raster(behind)
        if raster is not None and raster.mode == "CMYK" and not raster.has_profile:
            yield match_behind(behind, None, "CMYK without a profile", "an ICC profile")


@rule(WARNING, "shows nothing", "Check that you sent the right picture.")
def picture_empty(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for picture, facts in sheet.pictures:
        if facts.is_clear:
            yield match_of(picture, "fully transparent", "something visible")
        # Pictures of a gallery may be plain colors on purpose.
        elif facts.is_flat and picture.content not in sheet.template.gallery:
            yield match_of(picture, "a single color", "something visible")


@rule(
    WARNING,
    "is stretched out of proportion",
    "Give the box the picture's proportions, or let it crop the picture.",
)
def picture_distorted(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for picture, facts in sheet.pictures:
        if picture.box.fit != "stretch" or not facts.height:
            continue
        change = (picture.box.width / picture.box.height) / (facts.width / facts.height) - 1
        if abs(change) > DISTORTED:
            wanted = f"{facts.width} : {facts.height}"
            yield match_of(picture, f"{picture.box.width:g} : {picture.box.height:g}", wanted)


@rule(
    STRICT_WHEN_CONVERTED,
    "has more ink than the paper can take, so it may smear and dry slowly",
    "Reduce the ink in the darkest parts.",
)
def total_ink_high(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Checks only colors defined in inks, and what blends: all others are limited when they are converted."""
    yield from color_ink_too_much(sheet)
    most = sheet.limits.total_ink
    for picture, facts in sheet.pictures:
        if facts.ink is not None and facts.ink > most + 1:
            yield match_of(picture, f"{facts.ink:.0f}%", f"{most:g}%")
    for behind in sheet.backgrounds:
        if (plates := sheet.plate_inks.get(behind.number)) is not None:
            if plates.area is not None:
                found = f"{plates.percent:.0f}%"
                yield RuleMatch(behind.number, plates.area, "The background", found, f"{most:g}%")
            continue
        raster = _find_raster(behind)
        inks: list[tuple[float, Area | None]] = (
            [(raster.ink, None)] if raster is not None and raster.ink is not None else []
        )
        inks += [(part.size, part.area) for part in behind.facts.of_kind(Part.INK)]
        heaviest = max(inks, key=itemgetter(0), default=(0.0, None))
        if heaviest[0] > most + 1:
            yield match_behind(behind, heaviest[1], f"{heaviest[0]:.0f}%", f"{most:g}%")


def _find_raster(behind: Background) -> PictureFacts | None:
    artwork = behind.artwork
    return facts_of(artwork.data, artwork.digest) if artwork.media_type in RASTERS else None
