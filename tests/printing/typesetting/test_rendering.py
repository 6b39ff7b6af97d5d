import io
import re

import pypdf
import pytest
from PIL import Image

from printing.typesetting import (
    Field,
    ValuesInvalid,
    parse_template,
    render_print,
    render_proof,
    try_template,
)
from printing.typesetting.errors import TemplateInvalid
from tests.support.printing.made_templates import card, picture, text_box, words_template

MM = 72 / 25.4
PHOTO = {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 5, "Width": 50.8, "Height": 25.4}
UPLOAD = [Field("Photo", type="Image", sub_type="Upload")]


def read(pdf):
    return pypdf.PdfReader(io.BytesIO(pdf), strict=True)


def text_of(pdf):
    return read(pdf).pages[0].extract_text()


def sides(box):
    return [round(float(side), 1) for side in (box.left, box.bottom, box.right, box.top)]


def problems_of(template, values, **more):
    with pytest.raises(ValuesInvalid) as caught:
        render_proof(template, values, **more)
    return [(problem.pointer, problem.code) for problem in caught.value.problems]


def test_proof_shows_the_trimmed_page_at_144_dpi():
    proof = render_proof(words_template(), {"Words": "Hello"})

    pages = read(proof.pdf).pages
    assert len(pages) == len(proof.pages) == 1
    assert sides(pages[0].mediabox) == [0, 0, 252, 144]
    assert Image.open(io.BytesIO(proof.pages[0])).size == (504, 288)
    assert proof.messages == ()


def test_print_has_trim_and_bleed_boxes_inside_its_crop_marks():
    page = read(render_print(words_template(), {"Words": "Hello"}).pdf).pages[0]

    edge = 11 * MM
    assert sides(page.mediabox) == [0, 0, round(252 + 2 * edge, 1), round(144 + 2 * edge, 1)]
    assert sides(page.trimbox) == [round(side, 1) for side in (edge, edge, 252 + edge, 144 + edge)]
    bleed = 8 * MM
    assert sides(page.bleedbox) == [
        round(side, 1) for side in (bleed, bleed, 252 + 2 * edge - bleed, 144 + 2 * edge - bleed)
    ]


def lines_of(page):
    """Every straight line of the page, from and to, in mm from its lower left corner."""
    found, at = [], (0.0, 0.0)

    def see(operator, operands, matrix, _):
        nonlocal at
        if operator in {b"m", b"l"}:
            x, y = (float(operand) for operand in operands)
            a, b, c, d, e, f = matrix
            point = (round((a * x + c * y + e) / MM, 1), round((b * x + d * y + f) / MM, 1))
            found.extend([(at, point)] if operator == b"l" else [])
            at = point

    page.extract_text(visitor_operand_before=see)
    return found


def test_crop_marks_begin_half_a_millimeter_outside_of_the_bleed():
    lines = lines_of(read(render_print(words_template(), {"Words": "Hello"}).pdf).pages[0])

    left, right, bottom, top = 11, 99.9, 11, 61.8
    beside = [((x, y), (x + out, y)) for x, out in ((7.5, -5), (103.4, 5)) for y in (bottom, top)]
    above = [((x, y), (x, y + out)) for y, out in ((7.5, -5), (65.3, 5)) for x in (left, right)]
    assert set(beside + above) <= set(lines)


def test_fonts_are_embedded():
    page = read(render_print(words_template(Font="Inter"), {"Words": "Hello שלום"}).pdf).pages[0]

    fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
    names = [font["/BaseFont"].split("+")[1] for font in fonts]
    files = [font["/DescendantFonts"][0].get_object()["/FontDescriptor"] for font in fonts]
    assert len(names) == 2
    assert all("/FontFile2" in file or "/FontFile3" in file for file in files)


def test_mark_is_on_the_proof_and_not_on_the_print():
    template = words_template()

    assert "PROOF" in text_of(render_proof(template, {"Words": "Hello"}).pdf)
    assert text_of(render_proof(template, {"Words": "Hello"}, mark=None).pdf) == "Hello"
    assert text_of(render_print(template, {"Words": "Hello"}).pdf) == "Hello"


def test_same_input_gives_the_same_bytes():
    template = words_template()

    first, second = (render_proof(template, {"Words": "Hello"}) for _ in range(2))
    assert first == second
    assert render_print(template, {"Words": "Hello"}) == render_print(template, {"Words": "Hello"})
    assert not re.search(rb"/(CreationDate|ModDate)", first.pdf)


@pytest.mark.parametrize(
    "text",
    [
        '#read("/etc/passwd")',
        '#{ panic("x") }',
        "$ integral_0^1 $ *bold* _it_ `raw` <label> @ref = Heading",
        '"); #include "/job.json" //',
        "\\u{41} \\n ~ --- ...  'quotes' \"double\"",
        "{{7*7}} ${7*7} <b>bold</b> &amp; %s",
        "Zoë Ångström",
        "e\u0301e q\u030c",
        "Hello 你好 日本",
        "한글 text",
        "Привет Γειά",
    ],
)
def test_hostile_and_foreign_text_is_printed_as_it_was_sent(text):
    printed = text_of(render_print(words_template(Fit="wrap"), {"Words": text}).pdf)

    # A mark that is drawn by itself has no letter of its own in the PDF; the reader shows a control character.
    assert "".join(printed.replace("\x02", "").split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["שלום עולם", "مرحبا بالعالم", "👍🏽 👩‍👩‍👧", "नमस्ते"])
def test_shaped_scripts_are_drawn(text):
    blank = render_proof(words_template(), {"Words": ""}).pages[0]

    assert render_proof(words_template(), {"Words": text}).pages[0] != blank


def test_character_without_a_font_is_refused_by_name():
    with pytest.raises(ValuesInvalid) as caught:
        render_proof(words_template(), {"Words": "a𓀀"})

    (problem,) = caught.value.problems
    assert (problem.pointer, problem.code) == ("/Words", "character_not_printable")
    assert "U+13000 EGYPTIAN HIEROGLYPH A001" in problem.message


def test_text_that_does_not_fit_names_every_field():
    boxes = [text_box(Field=name, Width=20, Height=5, MinimumSize=8) for name in ("A", "B", "C")]
    template = parse_template(card(*boxes), [Field("A"), Field("B"), Field("C")])

    values = {"A": "x" * 60, "B": "fits", "C": "y" * 60}
    assert problems_of(template, values) == [("/A", "does_not_fit"), ("/C", "does_not_fit")]


def test_text_shrinks_before_it_is_refused():
    line = "A line that needs to shrink"
    template = words_template(Width=30, Height=5, MinimumSize=5)

    assert text_of(render_print(template, {"Words": line}).pdf) == line
    assert problems_of(template, {"Words": line * 3}) == [("/Words", "does_not_fit")]


def test_word_longer_than_the_line_is_refused_when_wrapping():
    template = words_template(Width=30, MinimumSize=9, Fit="wrap")

    assert problems_of(template, {"Words": "w" * 40}) == [("/Words", "does_not_fit")]


def test_ten_thousand_characters_are_refused_or_cut():
    text = "word " * 2000

    assert problems_of(words_template(Fit="wrap", MinimumSize=4), {"Words": text}) == [
        ("/Words", "does_not_fit")
    ]
    assert problems_of(words_template(MinimumSize=4), {"Words": text}) == [("/Words", "does_not_fit")]
    assert render_proof(words_template(Fit="clip"), {"Words": text}).pages


def test_coarse_picture_is_reported_and_drawn():
    template = parse_template(card(PHOTO), UPLOAD)

    coarse = render_proof(template, {"Photo": "7"}, {"Photo": picture(200, 100)})
    fine = render_proof(template, {"Photo": "7"}, {"Photo": picture(400, 200, "JPEG")})
    assert [(message.pointer, message.code) for message in coarse.messages] == [("/Photo", "low_resolution")]
    assert "100 dpi" in coarse.messages[0].message
    assert fine.messages == ()


def test_print_keeps_a_pictures_full_resolution_and_proof_does_not():
    template = parse_template(card(PHOTO), UPLOAD)
    images = {"Photo": picture(2000, 1000)}

    (printed,) = read(render_print(template, {"Photo": "7"}, images).pdf).pages[0].images
    (proofed,) = read(render_proof(template, {"Photo": "7"}, images, mark=None).pdf).pages[0].images
    assert printed.image.size == (2000, 1000)
    assert proofed.image.size == (400, 200)


@pytest.mark.parametrize(
    ("images", "code"),
    [
        ({}, "unknown_picture"),
        ({"Photo": b"GIF89a"}, "unreadable_artwork"),
        ({"Photo": picture(9, 9)[:50]}, "unreadable_artwork"),
    ],
)
def test_picture_that_cannot_be_used_is_refused(images, code):
    template = parse_template(card(PHOTO), UPLOAD)

    assert problems_of(template, {"Photo": "7"}, images=images) == [("/Photo", code)]


def test_cmyk_color_reaches_the_pdf():
    template = words_template(Color={"C": 100, "M": 50})

    content = read(render_print(template, {"Words": "Ink"}).pdf).pages[0].get_contents().get_data()
    assert re.search(rb"1 0\.50196\d* 0 0 k", content)


def test_rotated_box_turns_about_its_middle():
    straight = render_proof(words_template(Align="center", VerticalAlign="middle"), {"Words": "o"}, mark=None)
    turned = render_proof(
        words_template(Align="center", VerticalAlign="middle", Rotation=180), {"Words": "o"}, mark=None
    )

    boxes = [
        Image.open(io.BytesIO(rendering.pages[0])).convert("L").point(lambda v: 255 - v).getbbox()
        for rendering in (straight, turned)
    ]
    assert max(abs(one - other) for one, other in zip(*boxes, strict=True)) < 20


def test_artwork_only_typst_can_check_is_refused_when_tried():
    broken = {"MediaType": "application/pdf", "Data": "JVBERi0xLjcKJSVFT0YK"}
    value = card(Background="card.svg") | {"Artwork": {"card.svg": broken}}
    template = parse_template(value, [])

    with pytest.raises(TemplateInvalid) as caught:
        try_template(template)
    assert caught.value.problems[0].code == "not_renderable"


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
def test_pictures_of_all_modes_are_drawn(mode):
    target = io.BytesIO()
    Image.new(mode, (1700, 850)).save(target, "JPEG" if mode == "CMYK" else "PNG")
    template = parse_template(card(PHOTO), UPLOAD)

    assert render_proof(template, {"Photo": "7"}, {"Photo": target.getvalue()}).messages == ()
    assert render_print(template, {"Photo": "7"}, {"Photo": target.getvalue()}).messages == ()


def test_damaged_large_picture_is_refused():
    noise = Image.effect_noise((2500, 2000), 90)
    target = io.BytesIO()
    noise.save(target, "JPEG")
    template = parse_template(card(PHOTO), UPLOAD)

    images = {"Photo": target.getvalue()[:200_000]}
    assert problems_of(template, {"Photo": "7"}, images=images) == [("/Photo", "unreadable_artwork")]
