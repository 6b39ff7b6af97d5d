"""Colors in content streams and gradients, as Typst and as other programs write them."""

from io import BytesIO

import pikepdf
import pytest

from printing.artwork.pdf_content import left_in_color
from printing.press.colors import Separation, limit_ink, read_profile
from printing.press.gradients import repaint_gradient
from printing.press.paints import OF_CMYK, OF_RGB, Inks, Shades
from printing.press.profiles import SHIPPED, ProfileInvalid
from printing.press.repaint import Repainter
from printing.press.streams import recolor_stream
from tests.support.printing.pdf_making import one_page

SPACES = {"/c0": OF_RGB, "/c1": OF_CMYK}


@pytest.fixture(scope="module")
def inks():
    return Inks(Separation(SHIPPED.read_bytes()))


class Kept:
    """A conversion that changes no color of a gradient."""

    target = OF_RGB

    def blend(self, kind, colors):
        return colors


def repainted(content, inks, **resources):
    with pikepdf.open(BytesIO(one_page(content, (100, 100), **resources))) as pdf:
        Repainter(pdf, inks).run()
        return pdf.pages[0].obj.Contents.read_bytes()


def test_black_and_gray_are_written_in_black_alone(inks):
    written = recolor_stream(b"q 1 0 0 1 0 0 cm/c0 cs 0 0 0 scn 0 0 m f /c0 CS 1 1 1 SCN S", SPACES, inks)

    assert written == b"q 1 0 0 1 0 0 cm 0 0 0 1 k 0 0 m f  0 0 0 0 K S"


def test_strings_and_ink_colors_stay(inks):
    content = (
        b"BT (1 0 0 rg \\) (x) 1 0 0 rg) Tj ET /c1 cs 0.1 0.2 0.3 0.4 scn 0 0 0 0.5 k /Pattern cs /p0 scn"
    )

    assert recolor_stream(content, SPACES, inks) == content


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (b"BT (a 1 0 0 rg (((b))) c) Tj ET", b"(a 1 0 0 rg "),
        (b"% here (\n 0 0 0 rg 0 0 9 9 re f % and )\n", b"0 0 0 1 k"),
        (b"% not 1 0 0 rg\n", b""),
    ],
)
def test_deep_brackets_and_comments_are_no_colors(content, kept, inks):
    assert recolor_stream(content, SPACES, inks) is None
    assert kept in repainted(content, inks)


def test_color_far_from_its_space_is_found_by_taking_the_stream_apart(inks):
    assert recolor_stream(b"/c0 cs q 0 0 0 scn Q", SPACES, inks) is None

    spaces = pikepdf.Dictionary(c0=pikepdf.Name.DeviceRGB)
    written = repainted(b"/c0 cs q 0 0 0 scn 0 0 9 9 re f Q 1 1 1 scn 0 0 9 9 re f", inks, ColorSpace=spaces)

    assert b"rg" not in written
    assert written.split(b"\n")[0] == b"0 0 0 1 k"
    assert b"0 0 0 0 k" in written


@pytest.mark.parametrize(
    ("content", "written"),
    [
        (b"1 0 0 rg 0 0 1 1 re f 0 0 0 sc", b"0 0 0 1 k"),
        (b"1 0 0 RG 0 0 1 1 re S 0 0 0 SCN", b"0 0 0 1 K"),
        (b".5 g 0 0 1 1 re f 0 sc", b"0 0 0 1 k"),
        # A page begins with gray.
        (b"0 sc", b"0 0 0 1 k"),
        (b"/Spot cs 0 sc", b"0 sc"),
        (b"/Pattern cs q 1 0 0 rg Q /P0 scn", b"/P0 scn"),
        (b"/P0 scn", b"/P0 scn"),
    ],
)
def test_color_follows_its_space_also_after_an_operator_that_sets_both(content, written, inks):
    assert repainted(content, inks).endswith(written)


@pytest.mark.parametrize(
    ("content", "written"),
    [(b"0 0 0 sc", b"0 0 0 1 k"), (b"1 scn", b"1 scn"), (b"/P0 scn", b"/P0 scn")],
)
def test_form_that_begins_with_the_space_of_its_page_keeps_tints(content, written, inks):
    """One number may be the tint of a spot color."""
    with pikepdf.open(BytesIO(one_page(b"/F Do", (100, 100)))) as pdf:
        form = pdf.make_stream(
            content, Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form, BBox=[0, 0, 9, 9]
        )
        pdf.pages[0].obj.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(F=form))
        Repainter(pdf, inks).run()

        assert pdf.pages[0].obj.Resources.XObject.F.read_bytes().strip() == written


def test_picture_inside_of_content_is_found_after_the_name_of_a_space(inks):
    """A spot color begins as a solid one, without an operator that sets it."""
    assert recolor_stream(b"/Spot cs BI /W 1 /H 1 /BPC 8 /CS /RGB ID \xc8\0\0 EI", SPACES, inks) is None


def test_mask_is_read_by_its_luminosity():
    assert recolor_stream(b"/c0 cs 1 0 0 scn", SPACES, Shades()) == b" 0.3 g"


def test_gradient_is_sampled_in_inks(inks):
    function = pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[1, 0, 0], C1=[0, 0, 1], N=1)
    shading = pikepdf.Dictionary(
        ShadingType=2, ColorSpace=pikepdf.Name.DeviceRGB, Coords=[0, 0, 1, 0], Function=function
    )
    content = one_page(b"/s0 sh", (100, 100), Shading=pikepdf.Dictionary(s0=shading))
    with pikepdf.open(BytesIO(content)) as pdf:
        Repainter(pdf, inks).run()
        painted = pdf.pages[0].obj.Resources.Shading.s0
        samples = painted.Function.read_bytes()

    assert str(painted.ColorSpace) == "/DeviceCMYK"
    assert (len(samples), samples[0], samples[2] > 200, samples[-4] > 200) == (1024, 0, True, True)


RAMP = {"FunctionType": 0, "Size": [3], "BitsPerSample": 8}
ENDS = {"FunctionType": 2, "C0": [1, 0, 2], "C1": [0, 0, 0], "N": 1}


@pytest.mark.parametrize(
    ("function", "ends"),
    [
        (RAMP, [(1, 0.8, 1), (0, 0.8, 1)]),
        (RAMP | {"Encode": [2, 0]}, [(0, 0.8, 1), (1, 0.8, 1)]),
        (RAMP | {"Encode": [1, 9]}, [(0, 0.8, 0), (0, 0.8, 1)]),
        (RAMP | {"Decode": [1, 0, 1, 0, 0, 2]}, [(0, 0.2, 1), (1, 0.2, 1)]),
        (ENDS, [(1, 0, 1), (0, 0, 0)]),
        (ENDS | {"Range": [0.4, 1, 0, 1, 0.2, 0.6]}, [(1, 0, 0.6), (0.4, 0, 0.2)]),
    ],
)
def test_function_of_a_gradient_reads_and_limits_its_values_as_it_says(function, ends):
    """To sRGB, which keeps them; the samples of a table are 1, .8, 1 then 0, .8, 0 then 0, .8, 1."""
    with pikepdf.new() as pdf:
        whole = {"Domain": [0, 1], "Range": [0, 1] * 3, **function}
        made = (
            pdf.make_stream(bytes([255, 204, 255, 0, 204, 0, 0, 204, 255]), **whole)
            if function["FunctionType"] == 0
            else pikepdf.Dictionary(**whole)
        )
        shading = pikepdf.Dictionary(
            ShadingType=2, ColorSpace=pikepdf.Name.DeviceRGB, Coords=[0, 0, 1, 0], Function=made
        )
        assert repaint_gradient(pdf, shading, OF_RGB, Kept())
        samples = shading.Function.read_bytes()

    assert [tuple(round(channel / 255, 1) for channel in end) for end in (samples[:3], samples[-3:])] == ends


def test_lab_and_pictures_inside_of_the_content_become_inks(inks):
    lab = pikepdf.Array(
        [pikepdf.Name.Lab, pikepdf.Dictionary(WhitePoint=[0.9642, 1, 0.8249], Range=[-128, 127, -128, 127])]
    )
    content = (
        b"/c0 cs 55 79 61 sc 0 0 9 9 re f 40 0 0 sc 9 9 9 9 re f q 9 0 0 9 0 0 cm "
        b"BI /W 1 /H 1 /BPC 8 /CS /RGB ID \xff\x00\x00 EI Q"
    )
    with pikepdf.open(BytesIO(one_page(content, (100, 100), ColorSpace=pikepdf.Dictionary(c0=lab)))) as pdf:
        Repainter(pdf, inks).run()
        page = pdf.pages[0].obj
        color, gray = [line for line in page.Contents.read_bytes().splitlines() if line.endswith(b" k")][-2:]
        [picture] = page.Resources.XObject.values()
        assert (str(picture.ColorSpace), len(picture.read_bytes())) == ("/DeviceCMYK", 4)
        assert b"BI" not in page.Contents.read_bytes()

    cyan, magenta, yellow = (float(channel) for channel in color.split()[:3])
    assert cyan < 0.1 < 0.8 < min(magenta, yellow)
    assert gray.startswith(b"0 0 0 0.")


def test_picture_inside_of_the_content_takes_no_name_of_another(inks):
    content = b"q 9 0 0 9 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /RGB ID \xff\x00\x00 EI Q /Inline1 Do"
    with pikepdf.open(BytesIO(one_page(content, (100, 100)))) as pdf:
        form = pikepdf.Stream(pdf, b"0 0 9 9 re f", Subtype=pikepdf.Name.Form)
        resources = pdf.pages[0].obj.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Inline1=form))
        Repainter(pdf, inks).run()
        drawn = resources.XObject
        assert {str(name): str(drawn[name].Subtype) for name in drawn} == {
            "/Inline1": "/Form",
            "/Inline2": "/Image",
        }


def test_spot_color_gets_an_ink_alternate_and_keeps_its_name(inks):
    tint = pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[1, 1, 1], C1=[1, 0, 0], N=1)
    spot = pikepdf.Array([pikepdf.Name.Separation, pikepdf.Name("/Gold"), pikepdf.Name.DeviceRGB, tint])
    content = one_page(b"/c0 cs 1 scn 0 0 9 9 re f", (9, 9), ColorSpace=pikepdf.Dictionary(c0=spot))
    with pikepdf.open(BytesIO(content)) as pdf:
        Repainter(pdf, inks).run()
        painted = pdf.pages[0].obj.Resources.ColorSpace.c0
        assert [str(instruction) for instruction in list(painted)[1:3]] == ["/Gold", "/DeviceCMYK"]
        assert painted[3].read_bytes()[-3] > 200
        assert not list(left_in_color(pdf.pages[0].obj.Resources))


def test_too_much_ink_is_taken_from_the_colors_and_not_from_black():
    assert limit_ink((255, 255, 255, 255), 2.4 * 255) == (119, 119, 119, 255)
    assert limit_ink((10, 20, 30, 40), 2.4 * 255) == (10, 20, 30, 40)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda content: b"", "not_a_profile"),
        (lambda content: b"x" * 11_000_000, "profile_too_large"),
        (lambda content: content[:-5], "profile_damaged"),
        (lambda content: content[:12] + b"mntr" + content[16:], "not_an_output_profile"),
        (lambda content: content[:16] + b"RGB " + content[20:], "not_cmyk"),
        (lambda content: content[:8] + b"\x09" + content[9:], "profile_version"),
        (lambda content: content[:128] + bytes(len(content) - 128), "profile_unusable"),
    ],
)
def test_file_that_is_no_output_profile_is_refused(change, code):
    with pytest.raises(ProfileInvalid) as refusal:
        read_profile(change(SHIPPED.read_bytes()))

    assert refusal.value.code == code
