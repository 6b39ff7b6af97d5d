"""All rules of preflight: code, meaning, severity, advice, and the function that checks it."""

from collections.abc import Iterator
from itertools import chain

from stores.preflight.rules import artwork, eddm, pictures, product, space, text
from stores.preflight.rules.hit import Hit
from stores.preflight.rules.rule import ERROR, STRICT_WHEN_CONVERTED, WARNING, WHEN_CONVERTED, Rule
from stores.preflight.sheet import Sheet


def _ink(sheet: Sheet) -> Iterator[Hit]:
    return chain(artwork.color_ink_too_much(sheet), pictures.ink_too_much(sheet))


RULES = (
    Rule(
        "page_count_wrong",
        ERROR,
        "does not have as many pages as the product",
        "Add or remove pages, or correct the product's page count.",
        product.page_count_wrong,
    ),
    Rule(
        "page_size_wrong",
        ERROR,
        "does not have the product's size",
        "Give the page the product's trimmed size, or correct the product.",
        product.page_size_wrong,
    ),
    Rule(
        "background_stretched",
        WARNING,
        "is stretched: its PDF has another shape than the page with its bleed",
        "Export the PDF in the size of the page and its bleed.",
        product.background_stretched,
    ),
    Rule(
        "bleed_missing",
        WARNING,
        "has ink at the trim and too little bleed: a white edge may show after cutting",
        "Add bleed to the page and let backgrounds reach its end.",
        space.bleed_missing,
    ),
    Rule(
        "bleed_not_filled",
        WARNING,
        "touches the trim but does not fill the bleed: a white edge may show after cutting",
        "Let the box reach to the end of the bleed, or move it inside of the trim.",
        space.bleed_not_filled,
    ),
    Rule(
        "background_ends_at_trim",
        WARNING,
        "ends at the trim: a white edge may show after cutting",
        "Let the artwork reach to the end of the bleed.",
        space.background_ends_at_trim,
    ),
    Rule(
        "box_off_page",
        ERROR,
        "is outside of the page and will not be printed",
        "Move the box onto the page, or remove it.",
        space.box_off_page,
    ),
    Rule(
        "text_cut_off",
        WARNING,
        "reaches over the trim and will be cut off",
        "Move the text inside, make it smaller or shorten it.",
        space.text_cut_off,
    ),
    Rule(
        "text_outside_safe_area",
        WARNING,
        "is so near to the trim that cutting may touch it",
        "Move the text further inside, or shorten it.",
        space.text_outside_safe_area,
    ),
    Rule(
        "box_outside_safe_area",
        WARNING,
        "is so near to the trim that cutting may touch it",
        "Move the box further inside, or let a picture reach to the end of the bleed.",
        space.box_outside_safe_area,
    ),
    Rule(
        "texts_overlap",
        WARNING,
        "lies over another text",
        "Move one of the texts, or shorten it.",
        space.texts_overlap,
    ),
    Rule(
        "text_too_small",
        WARNING,
        "is set in letters too small to print well",
        "Shorten the text so that it is set larger, or enlarge its box.",
        text.text_too_small,
    ),
    Rule(
        "text_small_reversed",
        WARNING,
        "is small and light on a dark ground: the ink around it fills its letters",
        "Set the text larger or bolder, or on a light ground.",
        text.text_small_reversed,
    ),
    Rule(
        "text_rich_black",
        WARNING,
        "is small text in black of several inks: it shows coloured edges",
        "Give the text pure black: C0 M0 Y0 K100.",
        text.text_rich_black,
    ),
    Rule(
        "text_contrast_low",
        WARNING,
        "hardly differs from its ground",
        "Choose a darker or lighter colour for the text.",
        text.text_contrast_low,
    ),
    Rule(
        "code_contrast_low",
        WARNING,
        "is a code that scanners may not read",
        "Print the code dark on a light ground.",
        text.code_contrast_low,
    ),
    Rule(
        "text_clipped",
        WARNING,
        "is cut off by its box",
        "Shorten the text, or enlarge its box.",
        text.text_clipped,
    ),
    Rule(
        "character_missing",
        ERROR,
        "has a character that no font here can print",
        "Replace the character.",
        text.character_missing,
    ),
    Rule(
        "font_substituted",
        WARNING,
        "has letters that its font lacks; they come from another font",
        "Check the look of these letters, or choose a font that has them.",
        text.font_substituted,
    ),
    Rule(
        "font_style_missing",
        WARNING,
        "asks for a bold or italic that its font does not have",
        "Choose a family with this style, or another style.",
        text.font_style_missing,
    ),
    Rule(
        "font_not_embeddable",
        ERROR,
        "is set in a font whose licence forbids embedding",
        "Choose another font, or have its maker allow embedding.",
        text.font_not_embeddable,
    ),
    Rule(
        "resolution_low",
        WARNING,
        "has too few pixels for its size in print and will look blurred",
        "Send a larger picture, or print it smaller.",
        pictures.resolution_low,
    ),
    Rule(
        "picture_rgb",
        WHEN_CONVERTED,
        "is an RGB picture and is converted to the press's inks: bright colours become duller",
        "Check the colours in the soft proof, or send a CMYK picture.",
        pictures.picture_rgb,
    ),
    Rule(
        "picture_untagged",
        WARNING,
        "has CMYK colours without a profile: how they will look is not known",
        "Save the picture with its ICC profile.",
        pictures.picture_untagged,
    ),
    Rule(
        "picture_empty",
        WARNING,
        "shows nothing",
        "Check that the right picture was sent.",
        pictures.picture_empty,
    ),
    Rule(
        "picture_distorted",
        WARNING,
        "is stretched out of its proportions",
        "Give the box the picture's proportions, or let it cut the picture.",
        pictures.picture_distorted,
    ),
    Rule(
        "total_ink_high",
        STRICT_WHEN_CONVERTED,
        "has more ink than the paper takes: it smears and dries slowly",
        "Take colour out of the darkest parts.",
        _ink,
    ),
    Rule(
        "hairline",
        WARNING,
        "has a line too thin to print reliably",
        "Make the line at least as thick as wanted.",
        artwork.hairline,
    ),
    Rule(
        "artwork_text_too_small",
        WARNING,
        "has letters too small to print well",
        "Set the letters larger in the artwork.",
        artwork.artwork_text_too_small,
    ),
    Rule(
        "artwork_font_missing",
        WARNING,
        "is set in a font that is not here; another takes its place",
        "Turn the letters into outlines, or use one of the fonts of the service.",
        artwork.artwork_font_missing,
    ),
    Rule(
        "artwork_font_not_embedded",
        ERROR,
        "is a PDF without one of its fonts",
        "Export the PDF with all fonts embedded, or letters as outlines.",
        artwork.artwork_font_not_embedded,
    ),
    Rule(
        "artwork_unreadable",
        ERROR,
        "cannot be examined",
        "Export the PDF again, without a password.",
        artwork.artwork_unreadable,
    ),
    Rule(
        "transparency_over_spot",
        WARNING,
        "has transparency together with spot colours: presses mix them in different ways",
        "Flatten the transparency, or turn the spot colours into process colours.",
        artwork.transparency_over_spot,
    ),
    Rule(
        "white_overprint",
        WARNING,
        "has white that overprints: it disappears in print",
        "Switch overprinting off for white objects.",
        artwork.white_overprint,
    ),
    *eddm.RULES,
)
