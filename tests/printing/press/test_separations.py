"""What is on the plates, as Ghostscript separates them, and what three other programs read of the files."""

import base64
import io

import numpy as np
import pytest
from PIL import Image, ImageCms

from printing.press.colors import Separation
from printing.press.profiles import SHIPPED
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import BUILT_IN_PRESS, Field, Press, TemplateInvalid, parse_template, render_print
from tests.support.printing.color_difference import delta_e_2000
from tests.support.printing.made_templates import card, text_box, words_template
from tests.support.printing.pdf_making import one_page
from tests.support.printing.pdfx_rules import faults
from tests.support.printing.press_samples import demo_print
from tests.support.printing.programs import PLATES, inside, plates, run

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
SHEET_MM = 8 + 3


def picture(image, form="JPEG", **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def photo_card(content, press):
    template = parse_template(
        card({"Field": "Photo", "Kind": "Image", "X": 5, "Y": 5, "Width": 40, "Height": 40, "Fit": "cover"}),
        [Field("Photo", type="Image", sub_type="Upload")],
    )
    return render_print(template, {"Photo": "x"}, {"Photo": content}, press=press).pdf


@pytest.mark.parametrize("press", [COATED, BUILT_IN_PRESS], ids=["preset", "no preset"])
def test_black_text_is_on_the_black_plate_alone(tmp_path, press):
    printed = render_print(words_template(Color="#000000", Size=30), {"Words": "Black"}, press=press).pdf

    found = {name: inside(plate, SHEET_MM) for name, plate in plates(tmp_path, printed).items()}

    assert found["Black"].max() == pytest.approx(1, abs=0.01)
    assert [float(found[name].max()) for name in PLATES[:3]] == [0, 0, 0]


def test_postal_block_of_a_mailer_is_on_the_black_plate_alone_without_a_preset(tmp_path):
    template, values, images = demo_print("eddm-mailer-8.5x11")
    [block] = [box for box in template.pages[1].boxes if box.is_framed]

    found = plates(tmp_path, render_print(template, values, images).pdf, page=2)

    pixels = 150 / 25.4
    left, top = round((SHEET_MM + block.x) * pixels), round((SHEET_MM + block.y) * pixels)
    inks = {
        name: found[name][top : top + round(block.height * pixels), left : left + round(block.width * pixels)]
        for name in PLATES
    }
    words = inks["Black"] > 0.5
    assert words.sum() > 500
    assert [float(inks[name][words].max()) for name in PLATES[:3]] == [0, 0, 0]


def test_colors_in_inks_pass_untouched_and_gray_has_no_color(tmp_path):
    boxes = [
        text_box(X=5, Width=20, Text="m", Field=None, Background={"C": 0, "M": 60, "Y": 20, "K": 0}),
        text_box(X=45, Width=20, Text="g", Field=None, Background="#808080"),
    ]
    boxes = [{key: value for key, value in box.items() if value is not None} for box in boxes]
    printed = render_print(parse_template(card(*boxes), [Field("Words")]), {}, press=COATED).pdf

    found = plates(tmp_path, printed)

    row, dpi = round((SHEET_MM + 40) / 25.4 * 150), 150 / 25.4
    ink = [round(float(found[name][row, round((SHEET_MM + 20) * dpi)]), 2) for name in PLATES]
    gray = [round(float(found[name][row, round((SHEET_MM + 60) * dpi)]), 2) for name in PLATES]
    assert ink == [0, 0.6, 0.2, 0]
    assert gray[:3] == [0, 0, 0]
    assert 0.4 < gray[3] < 0.7


@pytest.mark.parametrize("policy", ColorPolicy)
def test_uploads_in_black_and_in_inks_keep_their_plates(tmp_path, policy):
    ink = Image.new("CMYK", (400, 400), (0, 0, 0, round(0.7 * 255)))
    gray = Image.new("L", (400, 400), 77)
    middle = round((SHEET_MM + 25) / 25.4 * 150)

    press = Press(rules=PresetRules(policy=policy))
    for content in (picture(ink, quality=95), picture(gray, "PNG"), picture(gray, quality=95)):
        found = plates(tmp_path, photo_card(content, press))
        inks = [float(found[name][middle, middle]) for name in PLATES]
        assert inks == pytest.approx([0, 0, 0, 0.7], abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("highest", [300, 240])
def test_total_ink_stays_within_the_preset(tmp_path, highest):
    noise = np.random.default_rng(7).integers(0, 60, (300, 300, 3), dtype=np.uint8)
    press = Press(rules=PresetRules(policy=ColorPolicy.CMYK, highest_ink=highest))
    template = parse_template(
        card(
            {"Field": "Photo", "Kind": "Image", "X": -3, "Y": -3, "Width": 95, "Height": 57, "Fit": "cover"}
        ),
        [Field("Photo", type="Image", sub_type="Upload")],
    )
    for form in ("PNG", "JPEG"):
        content = picture(Image.fromarray(noise), form)
        printed = render_print(template, {"Photo": "x"}, {"Photo": content}, press=press).pdf
        found = plates(tmp_path, printed)
        total = sum(inside(found[name], 8.4) for name in PLATES)
        assert float(total.max()) * 100 <= highest + 2


@pytest.mark.slow
def test_total_ink_of_artwork_stays_within_the_preset(tmp_path):
    noise = Image.fromarray(np.random.default_rng(7).integers(0, 60, (360, 600, 3), dtype=np.uint8))
    data = base64.b64encode(picture(noise, quality=95)).decode()
    shown = f'<image width="600" height="360" href="data:image/jpeg;base64,{data}"/>'
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 360">{shown}</svg>'
    press = Press(rules=PresetRules(policy=ColorPolicy.CMYK, highest_ink=240))
    whole = card(Background="card.svg") | {
        "Artwork": {"card.svg": {"MediaType": "image/svg+xml", "Data": drawing}}
    }

    found = plates(tmp_path, render_print(parse_template(whole, []), {}, press=press).pdf)

    assert float(sum(inside(found[name], 8.4) for name in PLATES).max()) * 100 <= 240 + 2


def test_bleed_reaches_the_bleed_box_and_no_mark_is_inside(tmp_path):
    template = parse_template(card(Background="card.svg"), [])

    found = plates(tmp_path, render_print(template, {}, press=COATED).pdf)

    dark = sum(found[name] for name in PLATES)
    assert float(inside(dark, 8.2).min()) > 1
    edge = round(7.5 / 25.4 * 150)
    assert float(dark[edge, dark.shape[1] // 2]) == 0


def test_marks_and_slug_line_are_as_the_preset_says(tmp_path):
    shown = {}
    for marks, slug in ((True, True), (False, False)):
        press = Press(rules=PresetRules(policy=ColorPolicy.CMYK, marks=marks, slug=slug), title="card-1")
        printed = render_print(words_template(), {"Words": "Hi"}, press=press).pdf
        (tmp_path / "one.pdf").write_bytes(printed)
        shown[marks] = run("pdfinfo", "-box", str(tmp_path / "one.pdf"))
    boxes = {marks: [line.split(":")[0] for line in text.splitlines()] for marks, text in shown.items()}
    assert all("TrimBox" in names and "BleedBox" in names for names in boxes.values())
    media = [line.split()[1:] for line in shown[False].splitlines() if line.startswith("MediaBox")]
    bleed = [line.split()[1:] for line in shown[False].splitlines() if line.startswith("BleedBox")]
    assert media == bleed


@pytest.mark.parametrize("policy", ColorPolicy)
def test_other_programs_read_the_file_as_pdf_x_4(tmp_path, policy):
    press = Press(rules=PresetRules(policy=policy, slug=True), title="card-1")
    (tmp_path / "one.pdf").write_bytes(render_print(words_template(), {"Words": "Hi"}, press=press).pdf)

    said = run("pdfinfo", str(tmp_path / "one.pdf"))

    assert "PDF/X-4" in said
    assert "ISO 15930-7" in said
    assert "No syntax or stream encoding errors" in run("qpdf", "--check", str(tmp_path / "one.pdf"))
    assert "warning" not in run("mutool", "info", str(tmp_path / "one.pdf"))


def test_spread_of_colors_agrees_with_an_independent_conversion(tmp_path):
    """200 patches: ours and Ghostscript's inks, both read back through the profile, differ by 2 at most."""
    chance = np.random.default_rng(11)
    patches = [tuple(int(channel) for channel in chance.integers(0, 256, 3)) for _ in range(200)]
    own = Separation(SHIPPED.read_bytes())
    ours = [own.blend_inks(patch) for patch in patches]
    theirs = _separated_by_ghostscript(tmp_path, patches)

    differences = [delta_e_2000(*pair) for pair in zip(_labs(ours), _labs(theirs), strict=True)]

    assert max(differences) <= 2


def _separated_by_ghostscript(folder, patches):
    source = one_page(
        b"".join(
            b"%f %f %f rg %d %d 10 10 re f\n"
            % (*(value / 255 for value in patch), at % 20 * 10, at // 20 * 10)
            for at, patch in enumerate(patches)
        ),
        (200, 100),
    )
    (folder / "patches.pdf").write_bytes(source)
    run(
        *(
            "gs",
            "-q",
            "-dNOPAUSE",
            "-dBATCH",
            "-sDEVICE=tiff32nc",
            "-r72",
            "-dRenderIntent=1",
            "-dBlackPtComp=1",
        ),
        *(f"--permit-file-read={SHIPPED}", f"-sOutputICCProfile={SHIPPED}"),
        *(f"-sOutputFile={folder}/patches.tif", f"{folder}/patches.pdf"),
    )
    with Image.open(folder / "patches.tif") as made:
        picture = made.convert("CMYK")
        return [picture.getpixel((at % 20 * 10 + 5, 99 - (at // 20 * 10 + 5))) for at in range(len(patches))]


def _labs(inks):
    shown = Image.new("CMYK", (len(inks), 1))
    shown.putdata([tuple(ink) for ink in inks])
    press = ImageCms.ImageCmsProfile(str(SHIPPED))
    back = ImageCms.buildTransform(press, ImageCms.createProfile("LAB"), "CMYK", "LAB", 1)
    labs = ImageCms.applyTransform(shown, back)
    found = [labs.getpixel((at, 0)) for at in range(len(inks))]
    return [
        (lightness / 2.55, *(channel - 256 if channel > 127 else channel for channel in (a, b)))
        for lightness, a, b in found
    ]


@pytest.mark.parametrize("policy", ColorPolicy)
def test_spot_color_has_a_plate_of_its_own(tmp_path, policy):
    contour = {"Spot": "Cut Contour", "C": 0, "M": 100, "Y": 0, "K": 0}
    box = {key: value for key, value in text_box(Text=" . ", Background=contour).items() if key != "Field"}
    template = parse_template(card(box), [])

    printed = render_print(template, {}, press=Press(rules=PresetRules(policy=policy))).pdf

    middle = round((SHEET_MM + 20) / 25.4 * 150)
    found = plates(tmp_path, printed)
    assert float(found["Cut Contour"][middle, middle]) == 1
    assert [float(found[name][middle, middle]) for name in PLATES] == [0, 0, 0, 0]
    assert faults(printed) == []


@pytest.mark.parametrize("name", ["Black", "all", "Cut/Contour", "x" * 61])
def test_name_that_is_no_spot_color_is_refused(name):
    with pytest.raises(TemplateInvalid):
        parse_template(card(text_box(Color={"Spot": name, "K": 100})), [Field("Words")])
