import base64
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from printing.typesetting import Field, TemplateInvalid, parse_template
from printing.typesetting.artwork import measure_picture
from tests.support.printing.made_templates import SVG, card, huge_picture, picture, text_box

FIELDS = [Field("Words"), Field("Photo", type="Image", sub_type="Upload")]


def problems_of(json_value):
    with pytest.raises(TemplateInvalid) as caught:
        parse_template(json_value, FIELDS)
    return {problem.pointer: problem.code for problem in caught.value.problems}


def artwork_problem(media_type, data):
    return problems_of(card() | {"Artwork": {"a": {"MediaType": media_type, "Data": data}}})


def test_template_is_read_with_its_defaults():
    template = parse_template(card(text_box(Color={"C": 20}), Background="card.svg"), FIELDS)

    box = template.pages[0].boxes[0]
    assert (box.font, box.weight, box.align, box.fit, box.minimum_size) == ("Lato", 400, "left", "shrink", 10)
    assert box.color.as_json() == [20, 0, 0, 0]
    assert template.artwork["card.svg"].media_type == "image/svg+xml"


def test_digest_changes_with_any_part_and_not_with_order_of_keys():
    one = parse_template(card(text_box()), FIELDS)
    same = parse_template(dict(reversed(card(text_box()).items())), FIELDS)
    other = parse_template(card(text_box(X=6)), FIELDS)

    assert one.digest == same.digest
    assert one.digest != other.digest


def test_all_problems_are_reported_with_their_paths():
    boxes = [
        text_box(Field="Nobody", Size=2, Color="red", Align="justify", Typo=1),
        text_box(Kind="Image"),
        text_box(MinimumSize=11, Font="Comic Sans MS", Width=True),
        {"Kind": "Barcode", "X": 1, "Y": 1, "Width": 10, "Height": 10},
        "box",
    ]

    assert problems_of(card(*boxes, BleedMM=26, Background="none.svg") | {"Fonts": []}) == {
        "/Fonts": "unknown_key",
        "/Pages/0/Background": "unknown_artwork",
        "/Pages/0/Boxes/0/Align": "not_allowed",
        "/Pages/0/Boxes/0/Color": "not_a_color",
        "/Pages/0/Boxes/0/Field": "unknown_field",
        "/Pages/0/Boxes/0/Size": "out_of_range",
        "/Pages/0/Boxes/0/Typo": "unknown_key",
        "/Pages/0/Boxes/1/Kind": "wrong_kind",
        "/Pages/0/Boxes/1/Size": "unknown_key",
        "/Pages/0/Boxes/2/Font": "not_allowed",
        "/Pages/0/Boxes/2/MinimumSize": "out_of_range",
        "/Pages/0/Boxes/2/Width": "out_of_range",
        "/Pages/0/Boxes/3/Kind": "not_allowed",
        "/Pages/0/Boxes/4": "wrong_type",
        "/Pages/0/BleedMM": "out_of_range",
    }


@pytest.mark.parametrize("value", [None, [], "x", 1, {}, {"Pages": []}, {"Pages": [{}] * 33}, {"Pages": {}}])
def test_invalid_template_is_refused(value):
    assert problems_of(value)


def test_pages_and_boxes_are_bounded():
    assert problems_of(card(*[text_box()] * 61)) == {"/Pages/0/Boxes": "wrong_type"}
    assert problems_of(card() | {"Pages": card()["Pages"] * 33}) == {"/Pages": "wrong_type"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("<script>1</script>", "unsafe_svg"),
        ("<g onclick='x'/>", "unsafe_svg"),
        ("<foreignObject/>", "unsafe_svg"),
        ("<style>@import url(http://example.com)</style>", "unsafe_svg"),
        ("<image href='http://example.com/a.png'/>", "external_reference"),
        ("<image href='file:///etc/passwd'/>", "external_reference"),
        ("<image href='/etc/passwd'/>", "external_reference"),
        ("<image href='data:image/svg+xml;base64,AA'/>", "external_reference"),
        ("<image href='#card'/>", "external_reference"),
        ("<image href='#/../../../jobs/0/0.png'/>", "external_reference"),
        (
            "<image xlink:href=' #/../0.png' xmlns:xlink='http://www.w3.org/1999/xlink'/>",
            "external_reference",
        ),
        ("<s:IMAGE xmlns:s='http://www.w3.org/2000/svg' href='#/0.png'/>", "external_reference"),
        ("<feImage href='#/../0.png'/>", "external_reference"),
        ("<use href='#/../0.png'/>", "external_reference"),
        ("<g href='#card'/>", "external_reference"),
        ("<use href='other.svg#a'/>", "external_reference"),
        ("<rect fill='url(http://example.com/#a)'/>", "external_reference"),
        ("<rect style='fill: url( &quot;a.svg#b&quot; )'/>", "external_reference"),
        ("<g id='a'><use href='#b'/></g>", "svg_too_complex"),
        ("<g>" * 60 + "</g>" * 60, "svg_too_complex"),
        ("<g/>" * 20_001, "svg_too_complex"),
        ("<g>", "unreadable_artwork"),
    ],
)
def test_unsafe_svg_is_refused(body, code):
    svg = SVG.replace("</svg>", body + "</svg>")

    assert artwork_problem("image/svg+xml", svg) == {"/Artwork/a/Data": code}


def doubling(definition, levels=8):
    """So many definitions, each of which draws the next one eight times."""
    parts = [definition.format(f"a{n}", f"a{n + 1}") for n in range(levels)]
    return f"<defs>{''.join(parts)}<{{0}} id='a{levels}'><rect/></{{0}}></defs>"


def eight(paint):
    return "".join(f"<rect {paint}/>" for _ in range(8))


NESTED = {
    "mask": "<mask id='{0}'>" + eight("mask='url(#{1})'") + "</mask>",
    "clipPath": "<clipPath id='{0}'>" + eight("clip-path='url( &quot;#{1}&quot; )'") + "</clipPath>",
    "pattern": "<pattern id='{0}'>" + eight("style='stroke:red;FILL:url(#{1}) red'") + "</pattern>",
    "marker": "<marker id='{0}'><path d='M0 0 1 1 2 2 3 3' marker='url(#{1})'/></marker>",
}


@pytest.mark.parametrize("element", NESTED)
def test_references_that_multiply_are_refused_before_anything_is_drawn(element):
    bomb = doubling(NESTED[element], 7).format(element)
    svg = SVG.replace("</svg>", bomb + "<rect fill='url(#a0)' mask='url(#a0)'/></svg>")

    assert artwork_problem("image/svg+xml", svg) == {"/Artwork/a/Data": "svg_too_complex"}


@pytest.mark.parametrize(
    "body",
    [
        "<g fill='url(#p)'>" + "<rect/>" * 600 + "</g>",
        "<g style='/*;*/stroke:url(#p)'>" + "<rect/>" * 600 + "</g>",
        "<g id='h'>" + "<rect/>" * 300 + "</g>" + "<use href='#h' fill='url(#p)'/>" * 3,
        "<g marker-mid='url(#p)'><path d='M" + " 1 2" * 600 + "'/></g>",
        "<g marker='url(#p)'><use href='#h'/></g>",
        "<rect fill='url(#p)'/>" * 2_100,
        "<mask id='m'><g mask='url(#m)'/></mask>",
        "<mask id='m'><g mask='url(#n)'/></mask><mask id='n'><g mask='url(#m)'/></mask><g mask='url(#m)'/>",
        "".join(f"<mask id='m{n}'><g mask='url(#m{n + 1})'/></mask>" for n in range(12)),
        "".join(f"<mask id='m{n}'><g mask='url(#m{n + 1})'/></mask>" for n in reversed(range(12))),
    ],
)
def test_references_are_counted_wherever_they_reach(body):
    pattern = "<pattern id='p'>" + "<rect/>" * 200 + "</pattern>"
    svg = SVG.replace("</svg>", pattern + body + "</svg>")

    assert artwork_problem("image/svg+xml", svg) == {"/Artwork/a/Data": "svg_too_complex"}


def test_references_of_ordinary_artwork_are_allowed():
    body = (
        "<defs><linearGradient id='one'><stop/></linearGradient><linearGradient id='two' href='#one'/>"
        "<clipPath id='clip'><rect/></clipPath><pattern id='p'><rect fill='url(#two)'/></pattern>"
        "<mask id='m'><rect fill='url(#p)'/></mask><symbol id='star'><path d='M0 0 9 9'/></symbol></defs>"
        "<g id='Layer_1' clip-path='url(#clip)' mask='url(#m)'><g id='inner' fill='url(#two)'>"
        + "<rect stroke='url(#one)' style='fill: url(#two)'/>" * 3_000
        + "</g></g>"
        + "<use href='#star' fill='url(#two)'/>" * 500
        + "<a href='#star'><rect fill='url(#missing) red'/></a>"
    )
    svg = SVG.replace("</svg>", body + "</svg>")

    assert parse_template(
        card() | {"Artwork": {"a": {"MediaType": "image/svg+xml", "Data": svg}}}, []
    ).artwork["a"]


def test_svg_with_entities_is_refused():
    bomb = '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + SVG

    assert artwork_problem("image/svg+xml", bomb) == {"/Artwork/a/Data": "unsafe_svg"}


@pytest.mark.parametrize(
    ("media_type", "data", "where", "code"),
    [
        ("image/gif", "AA==", "MediaType", "unknown_media_type"),
        ("image/png", "not base64", "Data", "bad_base64"),
        ("image/png", base64.b64encode(b"nothing").decode(), "Data", "unreadable_artwork"),
        ("image/png", base64.b64encode(picture(90, 90)[:60]).decode(), "Data", "unreadable_artwork"),
        ("image/png", base64.b64encode(picture(9, 9, "JPEG")).decode(), "Data", "unreadable_artwork"),
        ("application/pdf", base64.b64encode(b"%PDF-1.7").decode(), "Data", "unreadable_artwork"),
        ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>", "Data", "no_size"),
        (
            "image/svg+xml",
            "<svg xmlns='http://www.w3.org/2000/svg' width='1..2' height='1'/>",
            "Data",
            "no_size",
        ),
        (
            "image/svg+xml",
            "<svg xmlns='http://www.w3.org/2000/svg' width='.' height='1'/>",
            "Data",
            "no_size",
        ),
        (
            "image/svg+xml",
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 inf inf'/>",
            "Data",
            "no_size",
        ),
        ("image/svg+xml", SVG + " " * 2_000_000, "Data", "artwork_too_large"),
        ("image/png", None, "Data", "no_data"),
    ],
)
def test_invalid_artwork_is_refused(media_type, data, where, code):
    assert artwork_problem(media_type, data) == {f"/Artwork/a/{where}": code}


@pytest.mark.parametrize("side", [8_000, 10_000, 30_000])
def test_picture_with_too_many_pixels_is_refused(side):
    data = base64.b64encode(huge_picture(side)).decode()
    svg = SVG.replace("</svg>", f'<image width="9" height="9" href="data:image/png;base64,{data}"/></svg>')

    assert artwork_problem("image/png", data) == {"/Artwork/a/Data": "too_many_pixels"}
    assert artwork_problem("image/svg+xml", svg) == {"/Artwork/a/Data": "too_many_pixels"}


def test_checking_pictures_in_parallel_keeps_the_warning_filters():
    content, before = picture(600, 600), list(warnings.filters)

    with ThreadPoolExecutor(8) as pool:
        sizes = list(pool.map(lambda _: measure_picture(content), range(100)))

    assert set(sizes) == {(600, 600)}
    assert list(warnings.filters) == before


def test_small_picture_inside_an_svg_is_allowed():
    data = base64.b64encode(picture(9, 9)).decode()
    svg = SVG.replace("</svg>", f'<image width="9" height="9" href="data:image/png;base64,{data}"/></svg>')

    assert parse_template(
        card() | {"Artwork": {"a": {"MediaType": "image/svg+xml", "Data": svg}}}, []
    ).artwork["a"]


def test_background_of_other_proportions_is_refused():
    assert problems_of(card(Background="card.svg", WidthMM=100)) == {
        "/Pages/0/Background": "wrong_proportions"
    }
