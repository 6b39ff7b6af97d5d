"""Fonts and colors that a PDF has in patterns, masks, letters, and forms within forms."""

import io

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from printing.artwork.parts import Part
from printing.artwork.pdf import FORMS_DEEP, read_pdf

TINT = Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 0, 0], C1=[0, 0.3, 0.6, 0], N=1)
CONTENT = b"/Gold cs 1 scn 0 0 50 50 re f BT /F 20 Tf (Words) Tj ET"
PIECE = {"Type": Name.XObject, "Subtype": Name.Form, "BBox": [0, 0, 200, 100]}
TILE = {"PatternType": 1, "PaintType": 1, "TilingType": 1, "BBox": [0, 0, 9, 9], "XStep": 9, "YStep": 9}


def resources():
    return Dictionary(
        Font=Dictionary(F=Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier)),
        ColorSpace=Dictionary(Gold=Array([Name.Separation, Name.Gold, Name.DeviceCMYK, TINT])),
        Shading=Dictionary(S=Dictionary(ShadingType=1, ColorSpace=Name.DeviceRGB)),
    )


def in_form(pdf, content=CONTENT, within=None, **entries):
    return pdf.make_stream(content, Resources=within or resources(), **{**PIECE, **entries})


def in_pattern(pdf):
    tile = pdf.make_stream(CONTENT, Resources=resources(), **TILE)
    return b"/Pattern cs /P scn 0 0 50 50 re f", Dictionary(Pattern=Dictionary(P=tile))


def in_form_of_pattern(pdf):
    inner = Dictionary(XObject=Dictionary(X=in_form(pdf)))
    tile = pdf.make_stream(b"/X Do", Resources=inner, **TILE)
    return b"/Pattern cs /P scn 0 0 50 50 re f", Dictionary(Pattern=Dictionary(P=tile))


def in_letter(pdf):
    font = Dictionary(
        Type=Name.Font,
        Subtype=Name.Type3,
        FontMatrix=[0.001, 0, 0, 0.001, 0, 0],
        FontBBox=[0, 0, 1000, 1000],
        CharProcs=Dictionary(a=pdf.make_stream(b"1000 0 d0 " + CONTENT)),
        Encoding=Dictionary(Differences=[97, Name.a]),
        FirstChar=97,
        LastChar=97,
        Widths=[1000],
        Resources=resources(),
    )
    return b"BT /T 20 Tf (a) Tj ET", Dictionary(Font=Dictionary(T=pdf.make_indirect(font)))


def in_letter_without_a_number(pdf):
    """Its resources are those that it is in."""
    content, page = in_letter(pdf)
    font = Dictionary(page.Font.T)
    font.Resources = pdf.make_indirect(font.Resources)
    font.Resources.Font.T = font
    return content, Dictionary(Font=Dictionary(T=font))


def in_mask(pdf):
    group = Dictionary(S=Name.Transparency, CS=Name.DeviceGray)
    mask = Dictionary(S=Name.Luminosity, G=in_form(pdf, Group=group))
    return b"/GS gs 0 0 50 50 re f", Dictionary(ExtGState=Dictionary(GS=Dictionary(SMask=mask)))


def in_forms(pdf, deep):
    drawn = in_form(pdf)
    for _ in range(deep - 1):
        drawn = in_form(pdf, b"/X Do", Dictionary(XObject=Dictionary(X=drawn)))
    return b"/X Do", Dictionary(XObject=Dictionary(X=drawn))


def facts(make, *more):
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(200, 100)).obj
    content, page.Resources = make(pdf, *more)
    page.Contents = pdf.make_stream(content)
    out = io.BytesIO()
    pdf.save(out)
    return read_pdf(out.getvalue())


def names(found, kind):
    return [part.name for part in found.of_kind(kind)]


@pytest.mark.parametrize(
    ("make", "more"),
    [
        (in_pattern, ()),
        (in_form_of_pattern, ()),
        (in_letter, ()),
        (in_letter_without_a_number, ()),
        (in_forms, (7,)),
        (in_forms, (FORMS_DEEP,)),
    ],
)
def test_fonts_and_colors_are_found_wherever_they_print(make, more):
    found = facts(make, *more)

    assert [(part.name, part.is_embedded) for part in found.of_kind(Part.FONT)] == [("Courier", False)]
    assert names(found, Part.SPOT) == ["Gold"]
    assert names(found, Part.LEFT_IN_COLOR) == ["a gradient of type 1"]


def test_colors_of_a_mask_are_no_plates():
    found = facts(in_mask)

    assert names(found, Part.FONT) == ["Courier"]
    assert names(found, Part.SPOT) == names(found, Part.LEFT_IN_COLOR) == []


def test_forms_deeper_than_they_are_read_are_no_forms_without_faults():
    """The renderer of proofs leaves them out, and a press prints them."""
    assert not facts(in_forms, FORMS_DEEP + 1).is_readable
