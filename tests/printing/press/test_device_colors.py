"""Uploaded PDF artwork in device colors, which PDF/X-4 allows only with a profile."""

import base64
from io import BytesIO

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream, String

from printing.press.device_colors import DeviceColors, srgb_profile
from printing.press.profiles import SHIPPED
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_print
from tests.support.printing.made_templates import card
from tests.support.printing.pdf_making import one_page
from tests.support.printing.pdfx_rules import faults, kinds_of_color
from tests.support.printing.programs import plates

MANAGED = Press(rules=PresetRules(policy=ColorPolicy.MANAGED))
POINTS = 72 / 25.4
SIZE = ((88.9 + 6) * POINTS, (50.8 + 6) * POINTS)


def stream(pdf, content, **values):
    return pdf.make_indirect(Stream(pdf, content, **values))


def lzw(content):
    """Literal codes of nine bits, with a clear code before any could grow."""
    codes = [code for at in range(0, len(content), 200) for code in (256, *content[at : at + 200])]
    bits = "".join(f"{code:09b}" for code in [*codes, 257])
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8))


def artwork_in_device_colors():
    """A PDF that uses RGB in each place where a color can be."""
    with pikepdf.open(BytesIO(one_page(b"", SIZE))) as pdf:
        tint = Dictionary(FunctionType=2, Domain=[0, 1], C0=[1, 1, 1], C1=[1, 0, 0], N=1)
        shade = Dictionary(FunctionType=2, Domain=[0, 1], C0=[1, 0, 0], C1=[0, 0, 1], N=1)
        gradient = Dictionary(ShadingType=2, ColorSpace=Name.DeviceRGB, Coords=[0, 0, 90, 0], Function=shade)
        group = Dictionary(S=Name.Transparency, CS=Name.DeviceRGB)
        form = {"Type": Name.XObject, "Subtype": Name.Form, "BBox": Array([0, 0, 300, 200])}
        # Without resources of its own, as older programs write forms.
        plain = stream(pdf, b"0 1 0 rg 0 0 20 20 re f", **form)
        mask = stream(pdf, b"1 1 1 rg 0 0 300 200 re f", **form, Group=group)
        clear = stream(
            pdf,
            b"0 0 1 rg 20 0 20 20 re f",
            **form,
            Group=group,
            Resources=Dictionary(ExtGState=Dictionary(g=Dictionary(ca=0.5))),
        )
        tile = stream(
            pdf,
            b"1 0 1 rg 0 0 5 5 re f",
            PatternType=1,
            PaintType=1,
            TilingType=1,
            BBox=Array([0, 0, 9, 9]),
            XStep=9,
            YStep=9,
            Resources=Dictionary(),
        )
        photo = {"Type": Name.XObject, "Subtype": Name.Image, "Width": 1, "Height": 1, "BitsPerComponent": 8}
        palette = Array([Name.Indexed, Name.DeviceRGB, 0, String(b"\xff\x80\x00")])
        profile = stream(pdf, SHIPPED.read_bytes(), N=4)
        page = pdf.pages[0].obj
        page.Resources = Dictionary(
            XObject=Dictionary(
                plain=plain,
                clear=clear,
                photo=stream(pdf, b"\xff\x00\x00", **photo, ColorSpace=Name.DeviceRGB),
                few=stream(pdf, b"\x00", **photo, ColorSpace=palette),
            ),
            Shading=Dictionary(sh=gradient),
            Pattern=Dictionary(tile=tile, run=Dictionary(PatternType=2, Shading=pdf.make_indirect(gradient))),
            ColorSpace=Dictionary(
                rgb=Name.DeviceRGB,
                gold=Array([Name.Separation, Name("/Gold"), Name.DeviceRGB, tint]),
                press=Array([Name.ICCBased, profile]),
            ),
            ExtGState=Dictionary(
                masked=Dictionary(SMask=Dictionary(S=Name.Luminosity, G=mask)), open=Dictionary(ca=0.5)
            ),
        )
        content = (
            b"1 0 0 rg 0 0 300 200 re f /rgb cs 0 0 1 sc 0 0 9 9 re f /gold cs 1 scn 9 9 9 9 re f"
            b" /press cs 0 0 0 1 sc 30 30 9 9 re f /Pattern cs /tile scn 50 50 40 40 re f"
            b" /run scn 90 50 40 40 re f q 90 0 0 40 100 100 cm /sh sh Q"
            b" q 20 0 0 20 150 20 cm /photo Do Q q 20 0 0 20 180 20 cm /few Do Q"
            b" q 9 0 0 9 210 20 cm BI /W 1 /H 1 /BPC 8 /CS /RGB ID \xff\x00\x00 EI Q"
            b" /plain Do /clear Do q /masked gs 0 1 1 RG 0 0 m 99 99 l S Q"
        )
        page.Contents = stream(pdf, lzw(content), Filter=Name.LZWDecode)
        out = BytesIO()
        pdf.save(out, compress_streams=False, stream_decode_level=pikepdf.StreamDecodeLevel.none)
        return out.getvalue()


def printed_with(artwork, press):
    data = {"MediaType": "application/pdf", "Data": base64.b64encode(artwork).decode()}
    whole = card(Background="art.pdf") | {"Artwork": {"art.pdf": data}}
    return render_print(parse_template(whole, []), {}, press=press).pdf


def test_artwork_in_device_colors_has_a_profile_for_each_of_them():
    artwork = artwork_in_device_colors()
    with pikepdf.open(BytesIO(artwork)) as pdf:
        assert b"1 0 0 rg" in pdf.pages[0].obj.Contents.read_bytes()

    printed = printed_with(artwork, MANAGED)

    assert faults(printed) == []
    assert {"DeviceRGB", "ICCBased"} <= kinds_of_color(printed)
    assert printed_with(artwork, MANAGED) == printed


def test_artwork_is_converted_to_inks_under_the_other_policy():
    coated = Press(rules=PresetRules(policy=ColorPolicy.CMYK))

    printed = printed_with(artwork_in_device_colors(), coated)

    assert faults(printed) == []
    assert not {"DeviceRGB", "ICCBased"} & kinds_of_color(printed)


def test_default_for_device_colors_does_not_change_how_they_look(tmp_path):
    """Ghostscript takes DeviceRGB for sRGB as well, so the plates are those of the artwork itself."""
    artwork = one_page(b"0.8 0.2 0.1 rg 0 0 300 200 re f", SIZE)

    found = plates(tmp_path, printed_with(artwork, MANAGED))

    height, width = found["Cyan"].shape
    inks = [float(found[name][height // 2, width // 2]) for name in ("Cyan", "Magenta", "Yellow")]
    assert inks[0] < 0.25 < 0.7 < min(inks[1:])


@pytest.mark.parametrize("rounds", [1, 2])
def test_spaces_of_rgb_are_replaced_once(rounds):
    with pikepdf.open(BytesIO(artwork_in_device_colors())) as pdf:
        for _ in range(rounds):
            DeviceColors(pdf, SHIPPED.read_bytes()).run()
        resources = pdf.pages[0].obj.Resources
        profiles = {bytes(resources.ColorSpace[name][1].read_bytes()) for name in ("/DefaultRGB", "/rgb")}
        assert profiles == {srgb_profile()}
        assert str(resources.ColorSpace.press) == "/DeviceCMYK"
        assert str(resources.ColorSpace.gold[2][0]) == "/ICCBased"
        assert str(resources.XObject.few.ColorSpace[1][0]) == "/ICCBased"
        assert str(resources.XObject.plain.Resources.ColorSpace.DefaultRGB[0]) == "/ICCBased"


def test_profile_of_screens_has_the_same_bytes_each_time():
    srgb_profile.cache_clear()
    first = srgb_profile()
    srgb_profile.cache_clear()

    assert srgb_profile() == first
    assert (first[36:40], first[8:10], first[16:20]) == (b"acsp", b"\x04\x20", b"RGB ")
