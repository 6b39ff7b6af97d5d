"""Each rule with faults that it alone must name, and with sound cards that it must leave alone."""

import base64
import io

import pikepdf
import pytest
from fontTools.ttLib import TTFont
from PIL import Image, ImageCms

from printing.preflight import RULES, Limits, ProductFacts, Severity
from printing.preflight.rules.eddm import RULES as EDDM_RULES
from printing.preflight.svg import read_svg
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import FontSet
from tests.support.printing.preflight_cards import (
    POINTS,
    code,
    encoded,
    inspected,
    pdf,
    photo,
    picture,
    raster,
    svg,
    text,
)

pytestmark = pytest.mark.usefixtures("tasks_in_this_process")

CMYK = PresetRules(policy=ColorPolicy.CMYK, severities={})
MANAGED = PresetRules(policy=ColorPolicy.MANAGED)
MAILER = {
    "WidthMM": 228.6,
    "HeightMM": 165.1,
    "BleedMM": 0,
    "product": ProductFacts(228.6, 165.1, 1, is_eddm=True),
}
INDICIA = {"Kind": "EddmIndicia", "X": 190, "Y": 5, "Width": 34, "Height": 28, "Size": 8}
SMALL_MAILER = {"WidthMM": 88.9, "HeightMM": 50.8, "product": ProductFacts(88.9, 50.8, 1, is_eddm=True)}
LARGE_MAILER = {"WidthMM": 400, "HeightMM": 310, "product": ProductFacts(400, 310, 1, is_eddm=True)}
ADDRESS = {"Kind": "EddmAddress", "X": 120, "Y": 50, "Width": 70, "Height": 20, "Size": 12}
RICH = {"C": 60, "M": 50, "Y": 50, "K": 100}
HEAVY = {"C": 100, "M": 100, "Y": 100, "K": 80}
GREEN = '<rect width="94.9" height="56.8" fill="#0b4525"/>'
TO_TRIM = '<rect x="3" y="3" width="88.9" height="50.8" fill="#0b4525"/>'
REFLECTED = (
    '<linearGradient id="g" spreadMethod="reflect">'
    '<stop stop-color="#f00"/><stop offset="1" stop-color="#00f"/></linearGradient>'
)
PREFIXED = REFLECTED.replace("reflect", "pad").replace('"g"', '"gold"') + GREEN.replace(
    "#0b4525", "url(#gold)"
)
GRADED = '<rect width="94.9" height="56.8" fill="url(#g)"/>'
OPAQUE = pikepdf.Dictionary(GS=pikepdf.Dictionary(ca=0.5))
OVERPRINT = pikepdf.Dictionary(GS=pikepdf.Dictionary(op=True, OP=True, OPM=1))
OVERPRINT_0 = pikepdf.Dictionary(GS=pikepdf.Dictionary(op=True, OP=True, OPM=0))
SPOT = pikepdf.Dictionary(
    CS=pikepdf.Array([pikepdf.Name.Separation, pikepdf.Name("/CutContour"), pikepdf.Name.DeviceCMYK])
)
VARNISH = pikepdf.Dictionary(
    CS=pikepdf.Array([pikepdf.Name.Separation, pikepdf.Name("/Varnish"), pikepdf.Name.DeviceCMYK])
)
# A gradient that follows a function of two coordinates.
MESH = pikepdf.Dictionary(
    ShadingType=1,
    ColorSpace=pikepdf.Name.DeviceRGB,
    Function=pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 0], C1=[1, 0, 0], N=1),
)
RAINBOW = pikepdf.Dictionary(
    S=pikepdf.Dictionary(
        ShadingType=2,
        ColorSpace=pikepdf.Name.DeviceRGB,
        Coords=[0, 0, 200, 0],
        Function=pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 1], C1=[1, 0, 0], N=1),
    )
)
RAINBOWS = pikepdf.Dictionary(P=pikepdf.Dictionary(PatternType=2, Shading=RAINBOW.S))
# More parts than are noted of a kind.
LINES = b"0 0 0 1 K " + b"".join(b"%.3f w 40 40 m 120 40 l S " % (1 + at / 1000) for at in range(450))
HELVETICA = pikepdf.Dictionary(
    F1=pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
)
COMPOSITE = b"BT /F1 20 Tf 40 40 Td <00410042> Tj ET"


def composite(table):
    """A font with a file, and with this table of its characters."""
    descriptor = pikepdf.Dictionary(FontFile2=pikepdf.Dictionary())
    font = pikepdf.Dictionary(
        Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type0, BaseFont=pikepdf.Name.Mincho
    )
    font.Encoding, font.DescendantFonts = table, [pikepdf.Dictionary(FontDescriptor=descriptor)]
    return pikepdf.Dictionary(F1=font)


PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
EMPTY = encoded(Image.new("RGB", (480, 360), "white"))
CLEAR = encoded(Image.new("RGBA", (480, 360), (0, 0, 0, 0)))


def sent(content):
    return {"values": {"Photo": "sent"}, "images": {"Photo": content}}


def embedded(content, width, height):
    data = base64.b64encode(content).decode()
    return f'<image x="20" y="20" width="{width}" height="{height}" href="data:image/png;base64,{data}"/>'


# The letters of these are in a font without a file, which the rule above names; all is in points from below.
LETTERS = pikepdf.Dictionary(
    F1=pikepdf.Dictionary(
        Type=pikepdf.Name.Font,
        Subtype=pikepdf.Name.Type3,
        FontMatrix=[0.001, 0, 0, 0.001, 0, 0],
        FontBBox=[0, 0, 600, 700],
        FirstChar=65,
        LastChar=65,
        Widths=[600],
        Encoding=pikepdf.Dictionary(Differences=[65, pikepdf.Name("/A")]),
        CharProcs=pikepdf.Dictionary(),
    )
)
DARK_BLUE = b".9 .8 .3 0 k 0 0 300 170 re f "
FULL = b"0 0 .3 0 k 0 0 300 170 re f "
WARM_RED = pikepdf.Dictionary(
    CS=pikepdf.Array(
        [
            pikepdf.Name.Separation,
            pikepdf.Name("/PANTONE 485 C"),
            pikepdf.Name.DeviceCMYK,
            pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 0, 0], C1=[0, 0.95, 1, 0], N=1),
        ]
    )
)
STAMP = {"Subtype": pikepdf.Name.Stamp, "Rect": [60, 60, 90, 90], "F": 4}
FIELD = {
    "Subtype": pikepdf.Name.Widget,
    "Rect": [60, 60, 90, 90],
    "F": 4,
    "FT": pikepdf.Name.Tx,
    "V": "Dana",
    "T": "Name",
}


def letters(words=b"A" * 8, *, size=9, x=60, y=80, color=b"0 0 0 1 k", before=FULL):
    content = before + color + b" BT /F1 %d Tf 1 0 0 1 %d %d Tm (%s) Tj ET" % (size, x, y, words)
    return {"artwork": pdf(content, Font=LETTERS)}


def altered(change, content=FULL):
    """Artwork after `change(pdf)`."""
    with pikepdf.open(io.BytesIO(base64.b64decode(pdf(content)["Data"]))) as made:
        change(made)
        out = io.BytesIO()
        made.save(out)
    return {"artwork": raster(out.getvalue(), "application/pdf")}


def annotated(record):
    def change(made):
        form = pikepdf.Dictionary(Subtype=pikepdf.Name.Form, BBox=[0, 0, 30, 30])
        look = made.make_stream(b"0 0 0 1 k 0 0 30 30 re f", form)
        annotation = pikepdf.Dictionary(Type=pikepdf.Name.Annot, AP=pikepdf.Dictionary(N=look), **record)
        made.pages[0].obj.Annots = fields = pikepdf.Array([made.make_indirect(annotation)])
        if "/FT" in annotation:
            made.Root.AcroForm = pikepdf.Dictionary(Fields=fields)

    return altered(change)


def hatched(made):
    tile = pikepdf.Dictionary(PatternType=1, PaintType=2, TilingType=1, BBox=[0, 0, 9, 9], XStep=9, YStep=9)
    tile.Resources = pikepdf.Dictionary()
    # A form inherits the color space.
    form = made.make_stream(b"1 /P scn 0 0 9 9 re f", Subtype=pikepdf.Name.Form, BBox=[0, 0, 9, 9])
    form.Resources = pikepdf.Dictionary(Pattern=pikepdf.Dictionary(P=made.make_stream(b"0 0 5 5 re f", tile)))
    made.pages[0].obj.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(F=form))
    made.pages[0].contents_add(b"/F Do")


def doubled(made):
    made.pages[0].obj.UserUnit = 2


def three_pages(made):
    for _ in range(2):
        made.add_blank_page(page_size=(269, 161))


def trimmed(content=FULL, size=(88.9, 50.8)):
    return {"artwork": pdf(content, *size)}


REGISTRATION = pikepdf.Dictionary(
    CS=pikepdf.Array(
        [
            pikepdf.Name.Separation,
            pikepdf.Name.All,
            pikepdf.Name.DeviceCMYK,
            pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[0] * 4, C1=[1] * 4, N=1),
        ]
    )
)
# Outside of the trim, as crop marks and slug lines of layout programs are.
MARKS = b"1 1 1 1 K .1 w 12 1 m 12 20 l S 1 1 1 1 k 30 1 9 9 re f /CS cs 1 scn 50 1 9 9 re f "
GROUND = b"0 0 .3 0 k 0 0 400 300 re f "
CYAN_OVER = pdf(FULL + b"/GS gs 1 0 0 0 k 60 60 99 40 re f", ExtGState=OVERPRINT)
WHITE = FULL + b"/GS gs 0 0 0 0 k 60 60 99 40 re f"
WHITE_OVER = pdf(WHITE, ExtGState=OVERPRINT)
# Over the whole width, 7 mm high.
BAND = b".3 0 0 0 k 0 60 300 20 re f "
ARTWORK_FAULTS = [
    ("overprint_not_shown", [], {"artwork": CYAN_OVER, "preset": PresetRules(keeps_overprint=True)}),
    ("artwork_size", [], trimmed(size=(210, 297))),
    ("artwork_size", [], trimmed(size=(50.8, 88.9))),
    ("artwork_size", [], trimmed(size=(5000, 5000))),
    ("artwork_size", [], trimmed(size=(189.8, 113.6))),
    ("artwork_size", [], altered(doubled)),
    ("artwork_pages_ignored", [], altered(three_pages)),
    ("artwork_flattened", [], annotated(STAMP)),
    ("artwork_flattened", [], annotated(FIELD)),
    ("bleed_missing", [], trimmed()),
    ("bleed_missing", [], trimmed(BAND)),
    ("text_cut_off", [], letters(x=-20, y=80)),
    ("text_outside_safe_area", [], letters(x=12, y=80)),
    ("text_small_reversed", [], letters(size=5, color=b"1 g", before=DARK_BLUE)),
    ("text_rich_black", [], letters(size=7, color=b".6 .6 .6 1 k")),
    ("text_rich_black", [], letters(size=8, color=b"0 0 0 rg") | {"preset": MANAGED}),
    ("text_rich_black", [], letters(size=8, color=b".137 .122 .125 rg")),
    ("text_contrast_low", [], letters(before=DARK_BLUE)),
    (
        "registration_color",
        [],
        {"artwork": pdf(FULL + b"/CS cs 1 scn 60 60 99 40 re f", ColorSpace=REGISTRATION)},
    ),
    ("hairline", [], {"artwork": pdf(FULL + b"0 0 0 1 k 60 60 99 .2 re f")}),
    ("page_blank", [], {"artwork": pdf(b"0 0 0 0 k 0 0 300 170 re f")}),
    ("page_blank", [], {}),
    ("die_line_missing", [], {"artwork": pdf(FULL), "die_lines": frozenset({"CutContour"})}),
    ("artwork_text_too_small", [], letters(size=3)),
    ("artwork_colors_left", [], altered(hatched)),
    (
        "artwork_plate_unexpected",
        [],
        {"artwork": pdf(FULL + b"/CS cs 1 scn 60 60 99 40 re f", ColorSpace=WARM_RED)},
    ),
    (
        "artwork_overprint_removed",
        [],
        {"artwork": pdf(FULL + b"/GS gs 1 0 0 0 k 60 60 99 40 re f", ExtGState=OVERPRINT)},
    ),
]
# A code, the boxes, and everything else about the card.
FAULTS = [
    ("page_count_wrong", [text()], {"product": ProductFacts(88.9, 50.8, 2)}),
    ("page_count_wrong", [text()], {"pages": 2}),
    ("page_size_wrong", [text()], {"product": ProductFacts(85, 55, 1)}),
    ("artwork_size", [], {"artwork": pdf(b"0 0 0 1 k 60 60 99 40 re f", 60, 60)}),
    ("bleed_missing", [], {"artwork": svg(GREEN, 88.9, 50.8), "BleedMM": 0}),
    (
        "bleed_missing",
        [text("x", Color="#ffffff", Background="#aa2200", X=0, Width=88.9, Align="center")],
        {"BleedMM": 1},
    ),
    ("bleed_missing", [text(Color="#ffffff")], {"artwork": svg(GREEN), "preset": PresetRules(bleed_mm=5)}),
    ("bleed_not_filled", [photo(X=0, Fit="cover")], sent(picture())),
    ("bleed_not_filled", [photo(X=-2, Y=-2, Fit="cover")], sent(picture())),
    (
        "bleed_not_filled",
        [text("Sale", Color="#ffffff", Background="#aa2200", X=-3, Width=91.9, Align="center")],
        {},
    ),
    ("background_ends_at_trim", [], {"artwork": svg(TO_TRIM)}),
    ("box_off_page", [text(X=120, Width=40)], {}),
    ("box_off_page", [code(Y=70)], {}),
    ("text_cut_off", [text(X=-4)], {}),
    ("text_cut_off", [text(X=60, Align="right", Width=32)], {}),
    ("text_outside_safe_area", [text(X=1)], {}),
    ("text_outside_safe_area", [text(X=4)], {"preset": PresetRules(safe_mm=6)}),
    ("text_outside_safe_area", [text(X=50, Y=24, Width=70, Height=6, Rotation=90, Align="center")], {}),
    ("box_outside_safe_area", [code(X=67.9)], {}),
    ("box_outside_safe_area", [photo(X=1.5)], sent(picture())),
    ("texts_overlap", [text(), text("Head of Sales", X=10, Y=9)], {}),
    ("text_too_small", [text(Size=4)], {}),
    ("text_too_small", [text("Dana Whitfield of Denver", Size=12, MinimumSize=3, Width=12)], {}),
    ("text_small_reversed", [text(Size=5.5, Color="#ffffff")], {"artwork": svg(GREEN)}),
    ("text_small_reversed", [text(Size=5.5, Color="#ffffff", Background="#222222")], {}),
    ("text_rich_black", [text(Color=RICH)], {}),
    ("text_contrast_low", [text(Color="#f4f4f4")], {}),
    ("text_contrast_low", [text(Color="#0b4525")], {"artwork": svg(GREEN)}),
    ("code_contrast_low", [code(Color="#d0d0d0")], {}),
    ("code_contrast_low", [code(Color="#ffffff")], {"artwork": svg(GREEN)}),
    ("text_clipped", [text("Far more words than fit " * 4, Fit="clip", Width=30)], {}),
    ("character_missing", [text("Dana \U000f0000")], {"is_rendered": False}),
    ("font_substituted", [text("Дана 東京", Font="Playfair Display")], {}),
    ("font_style_missing", [text(Font="Oswald", Italic=True)], {}),
    ("resolution_low", [photo()], sent(picture(80, 60))),
    ("resolution_low", [photo()], {**sent(picture(200, 150)), "preset": PresetRules(lowest_ppi=300)}),
    ("resolution_low", [], {"artwork": raster(picture(475, 284))}),
    ("resolution_low", [], {"artwork": svg(embedded(picture(40, 30), 20, 15))}),
    ("picture_rgb", [photo()], {**sent(picture()), "preset": CMYK}),
    ("artwork_rgb", [], {"artwork": pdf(b"0 1 0 rg 40 40 90 40 re f"), "preset": CMYK}),
    ("artwork_rgb", [], {"artwork": pdf(b"/S sh", Shading=RAINBOW), "preset": CMYK}),
    (
        "artwork_rgb",
        [],
        {"artwork": pdf(b"/Pattern cs /P scn 40 40 90 40 re f", Pattern=RAINBOWS), "preset": CMYK},
    ),
    ("picture_untagged", [photo()], sent(picture(mode="CMYK", form="JPEG"))),
    ("picture_empty", [photo()], sent(EMPTY)),
    ("picture_empty", [photo()], sent(CLEAR)),
    ("picture_distorted", [photo(Fit="stretch", Width=40)], sent(picture())),
    ("total_ink_high", [text("Sale", Size=30, Width=70, Height=14, Color=HEAVY)], {}),
    ("total_ink_high", [], {"artwork": pdf(b"1 1 1 .8 k 0 0 400 400 re f")}),
    ("total_ink_high", [], {"artwork": pdf(LINES + b"1 1 1 .8 k 0 0 400 400 re f")}),
    (
        "hairline",
        [],
        {"artwork": svg('<line x1="9" y1="9" x2="60" y2="9" stroke="#000" stroke-width="0.05"/>')},
    ),
    ("hairline", [], {"artwork": pdf(b"0 0 0 1 K 0.1 w 40 40 m 120 40 l S")}),
    ("artwork_unexamined", [], {"artwork": pdf(GROUND + b"10 10 m 99 99 l n " * 20_000)}),
    ("artwork_text_too_small", [], {"artwork": svg('<text x="9" y="9" font-size="1.2">Small</text>')}),
    (
        "artwork_font_missing",
        [],
        {"artwork": svg('<text x="9" y="20" font-size="6" font-family="Helvetica Neue">Hi</text>')},
    ),
    (
        "artwork_font_not_embedded",
        [],
        {"artwork": pdf(b"BT /F1 20 Tf 40 40 Td (Hello) Tj ET", Font=HELVETICA)},
    ),
    # As Distiller writes Japanese.
    (
        "artwork_font_not_embedded",
        [],
        {"artwork": pdf(COMPOSITE, Font=composite(pikepdf.Name("/90ms-RKSJ-H")))},
    ),
    (
        "artwork_colors_left",
        [],
        {"artwork": pdf(b"/M sh", Shading=pikepdf.Dictionary(M=MESH)), "preset": CMYK},
    ),
    ("artwork_colors_left", [], {"artwork": svg(REFLECTED + GRADED), "preset": CMYK}),
    (
        "transparency_over_spot",
        [],
        {"artwork": pdf(b"/GS gs /CS cs 1 scn 40 40 90 40 re f", ExtGState=OPAQUE, ColorSpace=SPOT)},
    ),
    (
        "white_overprint",
        [],
        {"artwork": WHITE_OVER, "preset": PresetRules(keeps_overprint=True)},
    ),
    *ARTWORK_FAULTS,
    ("eddm_too_small", [INDICIA | {"X": 50}, ADDRESS | {"X": 5, "Y": 4}], SMALL_MAILER),
    ("eddm_too_large", [INDICIA | {"X": 360}, ADDRESS], LARGE_MAILER),
    ("eddm_indicia_missing", [ADDRESS], MAILER),
    ("eddm_indicia_too_small", [INDICIA | {"X": 200, "Height": 12, "Size": 5}, ADDRESS], MAILER),
    ("eddm_indicia_words", [INDICIA | {"Text": "PRSRT STD"}, ADDRESS], MAILER),
    ("eddm_indicia_place", [INDICIA | {"X": 140}, ADDRESS], MAILER),
    ("eddm_address_missing", [INDICIA], MAILER),
    ("eddm_address_words", [INDICIA, ADDRESS | {"Text": "Dear friend"}], MAILER),
    ("eddm_address_type", [INDICIA, ADDRESS | {"MinimumSize": 5, "Width": 15}], MAILER),
    ("eddm_address_edge", [INDICIA, ADDRESS | {"X": 3, "Width": 223}], MAILER),
    ("eddm_address_place", [INDICIA, ADDRESS | {"Y": 100}], MAILER),
    ("eddm_turned", [INDICIA, ADDRESS | {"Rotation": 180}], MAILER),
]
SOUND = {
    "page_blank": ([], {"artwork": pdf(b"/CS cs 1 scn 40 40 90 40 re f", ColorSpace=VARNISH)}),
    "die_line_missing": (
        [],
        {
            "artwork": pdf(FULL + b"/CS CS 1 SCN 60 60 99 40 re S", ColorSpace=SPOT),
            "die_lines": frozenset({"Dieline"}),
        },
    ),
    "registration_color": (
        [],
        {"artwork": pdf(FULL + b"/CS cs 0 scn 60 60 99 40 re f", ColorSpace=REGISTRATION)},
    ),
    "page_count_wrong": ([text()], {"pages": 2, "product": ProductFacts(88.9, 50.8, 2)}),
    "page_size_wrong": ([text()], {"product": ProductFacts(50.8, 89.0, 1)}),
    "artwork_size": ([], trimmed(size=(95.5, 57.2))),
    "artwork_pages_ignored": ([], trimmed(size=(94.9, 56.8))),
    "artwork_flattened": ([], annotated(STAMP | {"F": 2})),
    "artwork_plate_unexpected": (
        [],
        {"artwork": pdf(FULL + b"/CS cs 1 scn 60 60 99 40 re f", ColorSpace=SPOT)},
    ),
    "artwork_overprint_removed": ([], {"artwork": pdf(FULL, ExtGState=OVERPRINT)}),
    "overprint_not_shown": ([], {"artwork": pdf(FULL, ExtGState=OVERPRINT)}),
    "bleed_missing": ([text()], {"BleedMM": 0}),
    "bleed_not_filled": ([photo(X=-3, Y=-3, Fit="cover")], sent(picture())),
    "background_ends_at_trim": ([], {"artwork": svg(GREEN)}),
    "box_off_page": ([text(X=60, Width=80)], {}),
    "text_cut_off": ([text(X=-20, Width=110, Align="center")], {}),
    "text_outside_safe_area": ([text(X=1, Width=80, Align="center")], {}),
    "box_outside_safe_area": ([photo(X=70, Y=-3, Width=21.9, Height=20, Fit="cover")], sent(picture())),
    "texts_overlap": ([text(), text("Head of Sales", Y=12.5)], {}),
    "text_too_small": ([text(Size=5)], {}),
    "text_small_reversed": ([text(Size=6, Color="#ffffff")], {"artwork": svg(GREEN)}),
    "text_rich_black": ([text(Color={"C": 0, "M": 0, "Y": 0, "K": 100})], {}),
    "text_contrast_low": ([text(Color="#8a8a8a")], {}),
    "code_contrast_low": ([code(Color="#0b4525")], {}),
    "text_clipped": ([text("Few words", Fit="clip", Width=30)], {}),
    "character_missing": ([text("Ærøskøbing – 5 €")], {}),
    "font_substituted": ([text("Łukasz Żak")], {}),
    "font_style_missing": ([text(Italic=True, Weight=700)], {}),
    "font_not_embeddable": ([text(Font="Inter")], {}),
    "resolution_low": ([photo()], sent(picture(130, 98))),
    "picture_rgb": ([photo()], {**sent(picture(mode="L")), "preset": CMYK}),
    "artwork_rgb": ([], {"artwork": pdf(b".2 .2 .2 rg 40 40 90 40 re f"), "preset": CMYK}),
    "picture_untagged": ([photo()], sent(picture(mode="CMYK", form="JPEG", icc_profile=PROFILE))),
    "picture_empty": ([photo()], sent(picture())),
    "picture_distorted": ([photo(Fit="stretch")], sent(picture())),
    "total_ink_high": ([text(Size=14, Color={"C": 60, "M": 60, "Y": 60, "K": 100})], {}),
    "hairline": (
        [],
        {"artwork": svg('<line x1="9" y1="9" x2="60" y2="9" stroke="#000" stroke-width="0.1"/>')},
    ),
    "artwork_unexamined": ([], {"artwork": pdf(GROUND + b"10 10 m 99 99 l n " * 10_000)}),
    "artwork_text_too_small": ([], {"artwork": svg('<text x="9" y="9" font-size="2">Small</text>')}),
    "artwork_font_missing": (
        [],
        {"artwork": svg('<text x="9" y="20" font-size="6" font-family="Inter, serif">Hi</text>')},
    ),
    "artwork_font_not_embedded": (
        [],
        {"artwork": pdf(COMPOSITE, Font=composite(pikepdf.Name("/Identity-H")))},
    ),
    "artwork_colors_left": (
        [],
        {"artwork": pdf(b"/M sh", Shading=pikepdf.Dictionary(M=MESH)), "preset": MANAGED},
    ),
    "artwork_unreadable": ([], {"artwork": pdf(b"0 0 0 1 k 40 40 90 40 re f")}),
    "transparency_over_spot": ([], {"artwork": pdf(b"/CS cs 1 scn 40 40 90 40 re f", ColorSpace=SPOT)}),
    "white_overprint": (
        [],
        {"artwork": pdf(WHITE, ExtGState=OVERPRINT_0), "preset": PresetRules(keeps_overprint=True)},
    ),
    **{rule.code: ([INDICIA, ADDRESS], MAILER) for rule in EDDM_RULES},
}


@pytest.mark.parametrize(
    ("rule", "boxes", "card"), FAULTS, ids=[f"{fault[0]}-{position}" for position, fault in enumerate(FAULTS)]
)
def test_seeded_fault_is_named_by_its_rule_alone(rule, boxes, card):
    found = inspected(*boxes, **card)

    assert {finding.code for finding in found} == {rule}, [finding.message for finding in found]
    assert all(finding.page >= 1 and finding.found and finding.wanted and finding.remedy for finding in found)


def test_background_without_bleed_is_one_finding_for_a_page():
    one_side = TO_TRIM.replace('x="3" y="3" width="88.9"', 'x="3" y="0" width="91.9"').replace("50.8", "56.8")
    (found,), (alone,) = inspected(artwork=svg(TO_TRIM)), inspected(artwork=svg(one_side))

    assert found.found == "paper in the bleed at the left, top, right, bottom"
    assert alone.found == "paper in the bleed at the left"
    assert alone.area.width < 3.1 < found.area.width


@pytest.mark.parametrize("rule", sorted(SOUND))
def test_sound_card_is_left_alone(rule):
    boxes, card = SOUND[rule]

    assert inspected(*boxes, **card) == []


@pytest.mark.parametrize(
    "drawing", [REFLECTED + GREEN, REFLECTED + PREFIXED, REFLECTED.replace("reflect", "pad") + GRADED]
)
def test_gradients_of_an_svg_that_are_not_repeated_are_left_alone(drawing):
    assert inspected(artwork=svg(drawing), preset=CMYK) == []


def with_margin(made):
    """A margin of 10 mm around the trim, and no BleedBox."""
    page = made.pages[0].obj
    page.MediaBox = [0, 0, 108.9 * POINTS, 70.8 * POINTS]
    page.TrimBox = [edge * POINTS for edge in (10, 10, 98.9, 60.8)]
    page.Resources = pikepdf.Dictionary(ColorSpace=REGISTRATION)


def test_marks_outside_of_the_trim_of_a_pdf_are_no_fault():
    assert inspected(**altered(with_margin, GROUND + MARKS)) == []


def without_bleed_below(made):
    made.pages[0].obj.MediaBox = [0, 3 * POINTS, 94.9 * POINTS, 56.8 * POINTS]
    made.pages[0].obj.TrimBox = [3 * POINTS, 3 * POINTS, 91.9 * POINTS, 53.8 * POINTS]


def test_side_without_bleed_is_a_fault_only_where_ink_reaches_it():
    [found] = inspected(**altered(without_bleed_below))

    assert (found.code, found.found) == ("bleed_missing", "0.0 mm, with ink at the bottom")
    assert inspected(**altered(without_bleed_below, BAND)) == []


def test_ink_within_the_trim_is_found_where_marks_have_as_much():
    content = GROUND + MARKS + b"1 1 1 1 k 90 90 30 20 re f"

    [found] = inspected(**altered(with_margin, content))

    assert (found.code, found.found) == ("total_ink_high", "400%")


def test_every_rule_has_a_fault_and_a_sound_card():
    elsewhere = {"font_not_embeddable", "artwork_unreadable"}

    # Of a customer's PDF: tests/stores/proofs/test_artwork.py.
    ruled = {rule.code for rule in RULES} - {"artwork_pages_missing"}
    assert {fault[0] for fault in FAULTS} | elsewhere == ruled == set(SOUND)


def test_font_that_may_not_be_embedded_is_an_error(tmp_path):
    lato = next(face.path for face in FontSet.shipped().faces if face.family == "Lato")
    font = TTFont(lato)
    font["OS/2"].fsType = 2
    for record in font["name"].names:
        if record.nameID in {1, 16}:
            record.string = "Locked Sans"
    font.save(path := tmp_path / "locked.ttf")

    [found] = inspected(text(Font="Locked Sans"), fonts=FontSet.shipped().with_files([path]))

    assert (found.code, found.severity) == ("font_not_embeddable", Severity.ERROR)


def test_artwork_that_cannot_be_examined_is_an_error():
    broken = {"MediaType": "application/pdf", "Data": base64.b64encode(b"%PDF-1.4\nnothing\n%%EOF").decode()}

    found = inspected(artwork=broken, is_rendered=False)

    assert [finding.code for finding in found] == ["artwork_unreadable"]


def test_preset_changes_the_severity_of_a_rule_or_switches_it_off():
    small = text(Size=4)

    [strict] = inspected(small, preset=PresetRules(severities={"text_too_small": "Error"}))

    assert strict.severity == Severity.ERROR
    assert inspected(small, preset=PresetRules(severities={"text_too_small": "Off"})) == []


def test_finding_says_where_the_letters_are_in_millimetres():
    [found] = inspected(text("Dana", Size=4, X=10, Y=12, Width=40, Height=6, VerticalAlign="bottom"))

    record = found.record()
    assert record["Box"]["X"] == 10
    assert record["Box"]["Y"] == pytest.approx(12 + 6 - 4 * 25.4 / 72, abs=0.01)
    assert record["Box"]["Width"] == pytest.approx(3.28, abs=0.02)
    assert (record["Found"], record["Wanted"]) == ("4 pt", "5 pt")


def test_large_page_needs_fewer_pixels_than_one_read_in_the_hand():
    limits = Limits.of(PresetRules(lowest_ppi=150))

    assert limits.resolution_of(88.9, 50.8) == 150
    assert limits.resolution_of(610, 1830) == pytest.approx(41, abs=1)


@pytest.mark.parametrize(
    "declaration", ["<!DOCTYPE svg>", '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>']
)
def test_artwork_is_read_up_to_a_declaration(declaration):
    drawn = '<svg viewBox="0 0 9 9"><text x="1" y="5" font-size="2">Small</text></svg>'

    assert len(read_svg(drawn.encode())) == 1
    assert read_svg(f"{declaration}{drawn}".encode()) == []


OVER = FULL + b"/GS gs 0 0 0 1 k 60 60 99 40 re f"
OVER_SPOT = b"0 0 0 0 k 0 0 300 170 re f /CS cs 1 scn 40 40 99 40 re f /GS gs 0 0 0 1 k 60 60 99 40 re f"


@pytest.mark.parametrize(
    ("content", "states", "codes"),
    [
        (OVER, OVERPRINT_0, []),
        (OVER, OVERPRINT, ["artwork_overprint_removed"]),
        (FULL + b"/GS gs 0 0 .5 1 k 60 60 99 40 re f", OVERPRINT, []),
        (FULL + b"/GS gs .5 g 60 60 99 40 re f", OVERPRINT, []),
        (b"/GS gs 1 0 0 0 k 60 60 99 40 re f", OVERPRINT, []),
        (b"0 0 .3 0 k 20 20 20 20 re f /GS gs 1 0 0 0 k 60 60 99 40 re f", OVERPRINT, []),
        (OVER_SPOT, OVERPRINT_0, ["artwork_overprint_removed"]),
        (OVER_SPOT, OVERPRINT, ["artwork_overprint_removed"]),
        (WHITE, OVERPRINT, ["artwork_overprint_removed"]),
        (WHITE, OVERPRINT_0, []),
        (FULL + b"/GS gs 1 g 60 60 99 40 re f", OVERPRINT, []),
    ],
    ids=[
        "opm 0",
        "opm 1",
        "no zeros",
        "gray",
        "paper",
        "beside",
        "spot",
        "spot, opm 1",
        "white, opm 1",
        "white, opm 0",
        "white gray",
    ],
)
def test_overprint_is_named_only_where_its_removal_changes_ink(content, states, codes):
    found = inspected(artwork=pdf(content, ExtGState=states, ColorSpace=SPOT))

    assert [finding.code for finding in found] == codes


def test_registration_color_has_its_own_sentence():
    artwork = pdf(FULL + b"/CS cs 1 scn 60 60 99 40 re f", ColorSpace=REGISTRATION)

    [found] = inspected(artwork=artwork)

    assert "uses registration color, which prints on every plate" in found.message
    assert "process inks" in found.remedy


@pytest.mark.parametrize(
    "fills",
    [
        b"".join(b"0 0 0 .%d k 60 %.1f 99 .2 re f " % (at + 10, 60 + at / 5) for at in range(50)),
        b"0 0 0 1 k 60 60 99 .5 re f",
        b"0 0 0 1 k 60 60 .2 1 re f",
        b"0 0 0 0 k 60 60 99 .2 re f",
    ],
    ids=["slices", "thick enough", "short", "white"],
)
def test_thin_fill_that_is_no_line_is_left_alone(fills):
    assert inspected(artwork=pdf(FULL + fills)) == []


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((50.8, 88.9), "which is turned by 90 degrees"),
        ((44.45, 25.4), "which is at 50% of the size"),
        ((177.8, 101.6), "which is at 200% of the size"),
        ((210, 297), "210.0 x 297.0 mm"),
    ],
)
def test_wrong_size_names_its_likely_cause(size, words):
    [found] = inspected(**trimmed(size=size))

    assert found.code == "artwork_size"
    assert found.found.endswith(words)
