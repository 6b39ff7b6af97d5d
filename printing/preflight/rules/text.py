"""Rules for text: size, ink, contrast and font."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from printing.preflight.colors import contrast, is_reversed, luminance, rgb_of, rich_black
from printing.preflight.geometry import frame
from printing.preflight.rules import artwork
from printing.preflight.rules.rule import ERROR, WARNING, RuleMatch, match_of, rule
from printing.preflight.sheet import CheckedSheet, VisibleBox
from printing.typesetting.fonts import FontFace, fonts_in

CODE_CONTRAST = 3.0
RESTRICTED = 0x0002
LESS_RESTRICTED = 0x000C


@rule(
    WARNING, "is too small to print well", "Shorten the text so that it becomes larger, or enlarge its box."
)
def text_too_small(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    smallest = sheet.limits.text_pt
    for visible, text in sheet.texts:
        if text.size < smallest:
            yield match_of(visible, _format_points(text.size), _format_points(smallest))


@rule(
    WARNING,
    "is small, light text on a dark background, and ink may fill its letters",
    "Make the text larger or bolder, or use a light background.",
)
def text_small_reversed(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Small light letters on a dark background fill in with ink."""
    smallest = sheet.limits.reversed_text_pt
    for visible, text in sheet.texts:
        if visible.color_behind is None or not sheet.limits.text_pt <= text.size < smallest:
            continue
        if is_reversed(visible.box.color, visible.color_behind):
            yield match_of(visible, f"{_format_points(text.size)}, light on dark", _format_points(smallest))
    yield from artwork.small_reversed(sheet)


@rule(
    WARNING,
    "is small text in black made of several inks, which may show colored edges",
    "Use pure black for the text: C0 M0 Y0 K100.",
)
def text_rich_black(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    largest = sheet.limits.rich_text_pt
    for visible, text in sheet.texts:
        words = rich_black(visible.box.color, sheet.limits.policy)
        if words and text.size < largest:
            yield match_of(visible, f"{words} at {_format_points(text.size)}", "K only")
    yield from artwork.rich(sheet)


@rule(
    WARNING, "has too little contrast with its background", "Choose a darker or lighter color for the text."
)
def text_contrast_low(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for visible, _ in sheet.texts:
        if visible.color_behind is None:
            continue
        found = contrast(rgb_of(visible.box.color), visible.color_behind)
        if found < sheet.limits.contrast:
            yield match_of(visible, f"contrast {found:.1f} : 1", f"{sheet.limits.contrast:g} : 1")
    yield from artwork.contrast_low(sheet)


@rule(WARNING, "is a code that scanners may not read", "Print the code dark on a light background.")
def code_contrast_low(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Scanners need dark bars on a light background."""
    for visible in sheet.visible_boxes:
        if visible.color_behind is None or visible.box.kind not in {"QRCode", "Code128"}:
            continue
        bars = rgb_of(visible.box.color)
        found = contrast(bars, visible.color_behind)
        if luminance(bars) > luminance(visible.color_behind) or found < CODE_CONTRAST:
            is_light = luminance(bars) > luminance(visible.color_behind)
            words = "light bars on a dark ground" if is_light else f"contrast {found:.1f} : 1"
            yield match_of(visible, words, f"dark bars, contrast {CODE_CONTRAST:g} : 1")


@rule(WARNING, "does not fit into its box and is cut off", "Shorten the text, or enlarge its box.")
def text_clipped(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for visible, text in sheet.texts:
        box = visible.box
        excess = max(text.width - box.width, text.height - box.height)
        if box.fit == "clip" and excess > 0.5:
            found = f"{text.width:.1f} x {text.height:.1f} mm"
            yield match_of(visible, found, f"{box.width:.1f} x {box.height:.1f} mm", area=frame(box))


@rule(ERROR, "has a character that no available font can print", "Replace the character.")
def character_missing(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for visible in sheet.visible_boxes:
        if visible.box.kind == "Text":
            missing = sheet.fonts.chain(visible.box.font, visible.content.replace("\t", " "))[1]
            if missing is not None:
                codes = " ".join(f"U+{ord(letter):04X}" for letter in missing[:4])
                yield match_of(visible, codes, f"characters of {visible.box.font}")


@rule(
    WARNING,
    "has letters that its font lacks, so another font prints them",
    "Check the look of these letters, or choose a font that has them.",
)
def font_substituted(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Letters that the chosen font lacks and another font supplies."""
    for visible in sheet.visible_boxes:
        if visible.box.kind == "Text":
            families, missing = sheet.fonts.chain(visible.box.font, visible.content.replace("\t", " "))
            if missing is None and len(families) > 1:
                yield match_of(visible, ", ".join(families[1:]), visible.box.font)


@rule(
    WARNING,
    "uses a bold or italic style that its font does not have",
    "Choose a family with this style, or another style.",
)
def font_style_missing(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """An italic or a bold that the family does not have: the typesetter takes the nearest face."""
    for visible, faces in _find_faces(sheet):
        if not faces:
            continue
        if visible.box.italic and not any(face.italic for face in faces):
            yield match_of(visible, f"{visible.box.font} upright", f"{visible.box.font} italic")
        elif visible.box.weight >= 600 and all(face.weights[1] < 550 for face in faces):
            yield match_of(
                visible, f"weight {max(face.weights[1] for face in faces)}", f"weight {visible.box.weight}"
            )


@rule(
    ERROR,
    "uses a font whose license forbids embedding",
    "Choose another font, or get a license that allows embedding.",
)
def font_not_embeddable(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for visible, faces in _find_faces(sheet):
        if any(_is_restricted(str(face.path), face.index) for face in faces):
            yield match_of(
                visible, f"{visible.box.font}: restricted license embedding", "a font that may be embedded"
            )


def _find_faces(sheet: CheckedSheet) -> Iterator[tuple[VisibleBox, list[FontFace]]]:
    """Each text with the faces of its font."""
    for visible in sheet.visible_boxes:
        if visible.box.kind == "Text":
            yield visible, [face for face in sheet.fonts.faces if face.family == visible.box.font]


@cache
def _is_restricted(path: str, index: int) -> bool:
    with Path(path).open("rb") as file:
        font = fonts_in(file)[index]
        rights = font["OS/2"].fsType if "OS/2" in font else 0
    return bool(rights & RESTRICTED) and not rights & LESS_RESTRICTED


def _format_points(size: float) -> str:
    return f"{round(size, 2):g} pt"
