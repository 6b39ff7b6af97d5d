"""What programs read in different ways is shown in the proof as it is printed."""

import base64
import io

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import Image

from printing.artwork.pdf_content import left_in_color
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_proof
from tests.support.printing.made_templates import card
from tests.support.printing.plate_samples import SIZE, artwork, made
from tests.support.printing.prepared_artwork import prepare_press_artwork

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
BELOW = b"0 0 .6 0 k 0 0 300 170 re f "
OVER = b"/GS gs .6 0 0 0 k 60 30 160 110 re f"
INVERTED = Dictionary(FunctionType=2, Domain=[0, 1], N=1, C0=[1], C1=[0])


def masked(pdf, by=Name.Luminosity, **more):
    form = pdf.make_stream(
        b".2 g 0 0 300 170 re f", Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, *SIZE], **more
    )
    return Dictionary(SMask=Dictionary(S=by, G=form))


def masked_in_browser(pdf):
    """Skia writes masks by alpha, of what is outside of them with a function, and names no space."""
    state = masked(pdf, Name.Alpha, Group=Dictionary(S=Name.Transparency, I=True))
    state.SMask.TR = pdf.make_stream(b"{1 exch sub}", FunctionType=4, Domain=[0, 1], Range=[0, 1])
    return state


STATES = {
    "list of ways to blend": (lambda _: Dictionary(BM=Array([Name.Multiply, Name.Normal])), Name.Multiply),
    "list with an unknown way": (lambda _: Dictionary(BM=Array([Name.Wet, Name.Multiply])), Name.Multiply),
    "transfer function": (lambda _: Dictionary(TR=INVERTED), None),
    "mask without a space": (lambda pdf: masked(pdf, Group=Dictionary(S=Name.Transparency)), None),
    "mask without a group": (masked, None),
}


@pytest.mark.parametrize("name", STATES)
def test_proof_shows_what_is_printed(name):
    make, mode = STATES[name]
    content = made(
        BELOW + OVER,
        lambda pdf, page: setattr(page, "Resources", Dictionary(ExtGState=Dictionary(GS=make(pdf)))),
    )
    template = parse_template(card(Background="b") | {"Artwork": {"b": artwork(content)}}, [])

    screen, printed = (
        Image.open(io.BytesIO(render_proof(template, {}, mark=None, press=press).pages[0])).convert("RGB")
        for press in (None, COATED)
    )

    for place in ((240, 160), (20, 20)):
        assert screen.getpixel(place) == pytest.approx(printed.getpixel(place), abs=50)
    with pikepdf.open(io.BytesIO(prepare_press_artwork(content).pdf)) as pdf:
        state = pdf.pages[0].obj.Resources.ExtGState.GS
        assert (state.get("/BM"), "/TR" in state) == (mode, False)


def test_mask_of_a_browser_masks():
    content = made(
        BELOW + OVER,
        lambda pdf, page: setattr(
            page, "Resources", Dictionary(ExtGState=Dictionary(GS=masked_in_browser(pdf)))
        ),
    )
    template = parse_template(card(Background="b") | {"Artwork": {"b": artwork(content)}}, [])

    for press in (None, COATED):
        shown = Image.open(io.BytesIO(render_proof(template, {}, mark=None, press=press).pages[0]))
        assert shown.getpixel((240, 160)) == shown.getpixel((20, 20))


def test_no_other_picture_is_printed_in_the_place_of_one():
    def picture(pdf, shade, **more):
        return pdf.make_stream(
            bytes([shade]),
            Type=Name.XObject,
            Subtype=Name.Image,
            Width=1,
            Height=1,
            BitsPerComponent=8,
            ColorSpace=Name.DeviceGray,
            **more,
        )

    def change(pdf, page):
        other = Dictionary(Image=picture(pdf, 0), DefaultForPrinting=True)
        opi = Dictionary({"/1.3": Dictionary(Type=Name.OPI, Version=1.3, F="fine.tif")})
        image = picture(pdf, 200, Alternates=Array([other]), OPI=opi)
        page.Resources = Dictionary(XObject=Dictionary(I=image))

    prepared = prepare_press_artwork(made(b"q 140 0 0 100 70 30 cm /I Do Q", change)).pdf

    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        assert not {"/Alternates", "/OPI"} & set(pdf.pages[0].obj.Resources.XObject.I.keys())


def masked_picture(pdf, resources):
    """Half of it is clear."""
    image, soft = (
        pdf.make_stream(pixels, Type=Name.XObject, Subtype=Name.Image, Width=2, Height=1, BitsPerComponent=8)
        for pixels in (bytes(6), b"\xff\x00")
    )
    image.ColorSpace, soft.ColorSpace, image.SMask = Name.DeviceRGB, Name.DeviceGray, soft
    resources.XObject = Dictionary(P=image, M=soft)
    return b"q 200 0 0 100 50 30 cm /P Do Q"


def masked_by_pattern(pdf, resources):
    """The left half is clear."""
    ramp = Dictionary(FunctionType=2, Domain=[0, 1], N=1, C0=[0], C1=[1])
    ends = [140, 0, 141, 0]
    gradient = Dictionary(ShadingType=2, ColorSpace=Name.DeviceGray, Coords=ends, Function=ramp)
    gradient.Extend = [True, True]
    shading = pdf.make_indirect(gradient)
    pattern = pdf.make_indirect(Dictionary(PatternType=2, Shading=shading))
    state = masked(pdf, Group=Dictionary(S=Name.Transparency, CS=Name.DeviceGray))
    state.SMask.G.Resources = Dictionary(Pattern=Dictionary(M=pattern))
    state.SMask.G.write(b"/Pattern cs /M scn 0 0 300 170 re f")
    resources.ExtGState, resources.Pattern = Dictionary(GS=state), Dictionary(M=pattern)
    resources.Shading = Dictionary(M=shading)
    return b"/GS gs 1 1 0 0 k 50 30 200 100 re f"


@pytest.mark.parametrize("make", [masked_picture, masked_by_pattern])
def test_proof_shows_masks_whose_parts_are_listed_with_those_of_the_page(make):
    def change(pdf, page):
        page.Contents = pdf.make_stream(BELOW + make(pdf, page.Resources))

    template = parse_template(card(Background="b") | {"Artwork": {"b": artwork(made(b"", change))}}, [])
    proof = Image.open(io.BytesIO(render_proof(template, {}, mark=None, press=COATED).pages[0]))

    levels = [sum(proof.convert("RGB").getpixel((x, 150))) for x in (150, 350)]
    assert sorted(level > 400 for level in levels) == [False, True]


def test_type_3_letters_keep_what_they_draw_of_the_page():
    def change(pdf, page):
        form = pdf.make_stream(b"0 0 9 9 re f", Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 9, 9])
        letter = pdf.make_stream(b"9 0 d0 /F Do")
        font = Dictionary(Type=Name.Font, Subtype=Name.Type3, CharProcs=Dictionary(a=letter))
        states = Dictionary(GS=masked(pdf))
        page.Resources = Dictionary(
            XObject=Dictionary(F=form, G=form), Font=Dictionary(A=font), ExtGState=states
        )

    prepared = prepare_press_artwork(made(b"BT /A 9 Tf (a) Tj ET", change)).pdf

    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        assert set(pdf.pages[0].obj.Resources.Font.A.Resources.XObject) == {"/F"}


@pytest.mark.parametrize("parameters", [None, Array([None, Dictionary(ColorTransform=0)])])
def test_jpeg_in_letters_is_read_as_it_is_without_them(parameters):
    """ReportLab writes all pictures in letters, and Ghostscript and Distiller can."""
    out = io.BytesIO()
    Image.new("RGB", (8, 8), (200, 60, 40)).save(out, "JPEG")

    def change(pdf, page):
        letters = base64.a85encode(out.getvalue()) + b"~>"
        image = pdf.make_stream(letters, Type=Name.XObject, Subtype=Name.Image, Width=8, Height=8)
        image.ColorSpace, image.BitsPerComponent = Name.DeviceRGB, 8
        image.Filter = Array([Name.ASCII85Decode, Name.DCTDecode])
        if parameters is not None:
            image.DecodeParms = parameters
        page.Resources = Dictionary(XObject=Dictionary(I=image))

    prepared = prepare_press_artwork(made(b"q 140 0 0 100 70 30 cm /I Do Q", change)).pdf

    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        resources = pdf.pages[0].obj.Resources
        assert list(left_in_color(resources)) == []
        assert resources.XObject.I.read_raw_bytes() == out.getvalue()
        assert resources.XObject.I.get("/DecodeParms") == (parameters and parameters[1])
