"""Proofs are clipped as print is."""

import io

import pytest
from PIL import Image

from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_proof
from tests.support.printing.made_templates import card
from tests.support.printing.plate_samples import artwork, made

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
BESIDE, ALL = b"10 40 m 50 40 l 50 120 l 10 120 l ", b"0 0 300 170 re "


def is_cyan(content):
    """Whether the middle is, in both kinds of proofs."""
    template = parse_template(card(Background="b") | {"Artwork": {"b": artwork(content)}}, [])
    for press in (None, COATED):
        page = render_proof(template, {}, mark=None, press=press).pages[0]
        with Image.open(io.BytesIO(page)) as opened:
            red, _, blue = opened.convert("RGB").getpixel((240, 160))
        yield red < 60 < blue


@pytest.mark.parametrize(
    "paint", [b"W S", b"W s", b"W f", b"W F", b"W* f*", b"W B", b"W* B*", b"W b", b"W* b*"]
)
def test_clip_holds_where_its_path_is_painted(paint):
    """As ReportLab clips to what it draws the line of."""
    assert list(is_cyan(made(b"0 0 1 0 k " + BESIDE + paint + b" 1 0 0 0 k " + ALL + b"f"))) == [False] * 2


def test_path_is_painted_before_it_clips():
    content = b"q 1 0 0 0 K 120 w 60 80 m 220 80 l 220 81 l W S Q"
    assert list(is_cyan(made(content))) == [True] * 2


def test_state_between_a_path_and_its_paint_is_kept():
    assert list(is_cyan(made(b"0 0 1 0 k " + ALL + b"W 1 0 0 0 k f"))) == [True] * 2


def test_many_half_clear_gradients_are_proofed_in_time():
    """Each of them took as long as its whole page: more than 10 seconds in all."""
    stops = '<stop stop-color="#a55"/><stop offset="1" stop-color="#55a" stop-opacity="0"/>'
    fades = "".join(
        f'<rect x="{20 * column}" y="{20 * row}" width="15" height="15" fill="url(#fade)"/>'
        for row in range(5)
        for column in range(10)
    )
    drawn = f'<linearGradient id="fade">{stops}</linearGradient>{fades}'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 210 297">{drawn}</svg>'
    page = {"WidthMM": 210, "HeightMM": 297, "Background": "fades"}
    background = {"MediaType": "image/svg+xml", "Data": svg}
    template = parse_template({"Pages": [page], "Artwork": {"fades": background}}, [])

    proof = render_proof(template, {}, mark=None, press=COATED).pages[0]

    with Image.open(io.BytesIO(proof)) as opened:
        clear, inked = (opened.convert("L").getpixel((round(x / 210 * opened.width), 40)) for x in (34, 21))
    assert inked < 160 < 240 < clear
