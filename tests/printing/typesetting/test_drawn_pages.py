"""How often the typesetter works for a proof."""

from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image

from printing.typesetting import (
    Field,
    ValuesInvalid,
    parse_template,
    render_backgrounds,
    render_page,
    render_print,
    render_proof,
    runs,
    scaling,
)
from tests.factories.pictures import encode_picture
from tests.support.printing.made_templates import card, picture, text_box
from tests.support.printing.own_renderer import OwnRenderer


class CountingRenderer(OwnRenderer):
    """Records what was compiled, and for each PNG how many pages."""

    def __init__(self):
        super().__init__()
        self.made = []

    def _compile(self, request, form):
        output = super()._compile(request, form)
        self.made.append((form, len(output)))
        return output

    def _query(self, request, label):
        self.made.append((label, 1))
        return super()._query(request, label)

    def _new_compiler(self, root, fonts):
        self.made.append(("compiler", 1))
        return super()._new_compiler(root, fonts)


@pytest.fixture
def renderer(monkeypatch):
    runs.drawn_pages.clear()
    counting = CountingRenderer()
    monkeypatch.setattr(runs, "shared_workers", counting)
    return counting


def booklet(count, **changes):
    """Each page shows a field of its own, and is a little wider than the one before."""
    pages = [
        card(text_box(Field=f"F{number}", Size=30))["Pages"][0] | {"WidthMM": 50 + number, **changes}
        for number in range(count)
    ]
    return parse_template({"Pages": pages}, [Field(f"F{number}") for number in range(count)])


def values(count, **changes):
    return {f"F{number}": str(number) for number in range(count)} | changes


def test_proof_takes_one_hand_over_one_compiler_and_each_output_once(renderer):
    render_proof(booklet(2), values(2))

    assert renderer.hand_overs == 1
    assert renderer.made == [("compiler", 1), ("pdf", 1), ("<set>", 1), ("png", 2)]


def test_proof_of_known_pages_takes_one_hand_over(renderer):
    render_proof(booklet(2), values(2))
    renderer.hand_overs = 0

    render_proof(booklet(2), values(2))

    assert renderer.hand_overs == 1
    assert renderer.made[-2:] == [("pdf", 1), ("<set>", 1)]


def test_two_renderers_share_many_pages(renderer):
    alone = render_proof(booklet(20), values(20))
    runs.drawn_pages.clear()
    renderer.made.clear()
    renderer.second = CountingRenderer()
    renderer.second.slot = 1

    proof = render_proof(booklet(20), values(20))

    assert proof == alone
    assert renderer.made == [("pdf", 1), ("<set>", 1), ("png", 8)]
    assert renderer.second.made == [("compiler", 1), ("png", 12)]


def test_only_changed_backgrounds_are_drawn_again(renderer):
    before = render_backgrounds(booklet(3), ppi=30)
    wider = booklet(3)
    wider = replace(wider, pages=(wider.pages[0], replace(wider.pages[1], width=80), wider.pages[2]))

    drawn = render_backgrounds(wider, ppi=30)

    assert (drawn[0], drawn[2], len(drawn)) == (before[0], before[2], 3)
    assert drawn[1] != before[1]
    assert renderer.made[-1] == ("png", 1)


def test_text_that_does_not_fit_is_drawn_by_nobody(renderer):
    with pytest.raises(ValuesInvalid):
        render_proof(booklet(2), values(2, F1="W" * 14))

    assert "png" not in dict(renderer.made)


def test_only_changed_pages_are_drawn_again(renderer):
    first = render_proof(booklet(9), values(9))
    renderer.made.clear()

    second = render_proof(booklet(9), values(9, F2="other", F7="others"))

    assert renderer.made == [("pdf", 1), ("<set>", 1), ("png", 2)]
    changed = [
        at for at, pages in enumerate(zip(first.pages, second.pages, strict=True)) if len(set(pages)) > 1
    ]
    assert changed == [2, 7]
    widths = [Image.open(BytesIO(page)).width for page in second.pages]
    assert widths == sorted(set(widths))


def test_page_drawn_alone_is_the_page_drawn_with_all_others(renderer):
    render_proof(booklet(3), values(3))
    alone = render_proof(booklet(3), values(3, F1="other"))
    runs.drawn_pages.clear()

    assert render_proof(booklet(3), values(3, F1="other")) == alone


def test_text_left_out_of_an_earlier_page_draws_no_later_page_again(renderer):
    render_proof(booklet(3), values(3))
    renderer.made.clear()

    proof = render_proof(booklet(3), values(3, F0=""))

    assert ("png", 1) in renderer.made
    assert [(text.page, text.box) for text in proof.texts] == [(1, 0), (2, 0)]


@pytest.mark.parametrize("mark", ["DRAFT", None])
def test_other_mark_draws_all_pages_again(renderer, mark):
    render_proof(booklet(2), values(2))
    renderer.made.clear()

    render_proof(booklet(2), values(2), mark=mark)

    assert ("png", 2) in renderer.made


def test_other_picture_of_the_same_field_is_drawn(renderer):
    box = {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 5, "Width": 60, "Height": 40}
    template = parse_template(card(box), [Field("Photo", type="Image", sub_type="Upload")])

    teal, again, red = (
        render_proof(template, {"Photo": "x"}, {"Photo": encode_picture(color)}).pages
        for color in ("teal", "teal", "red")
    )

    assert teal == again
    assert teal != red
    assert [form for form, _ in renderer.made].count("png") == 2


@pytest.mark.usefixtures("renderer")
def test_photo_is_made_smaller_once_for_each_size_and_not_for_the_press(monkeypatch):
    made = []

    def shrink(content, size):
        made.append(size)
        return encode_picture()

    monkeypatch.setattr(scaling, "shrink_picture", shrink)
    scaling.smaller_copies.clear()
    fields = [Field("Photo", type="Image", sub_type="Upload"), Field("Words")]
    wide, narrow = (
        parse_template(
            card(
                {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 5, "Width": width, "Height": 9}, text_box()
            ),
            fields,
        )
        for width in (12, 10)
    )
    one, other = ({"Photo": picture(400, 300, color=color)} for color in ("red", "teal"))
    for words in "abc":
        render_proof(wide, {"Photo": "x", "Words": words}, one)
    render_proof(wide, {"Photo": "x", "Words": "a"}, other)
    render_proof(narrow, {"Photo": "x", "Words": "a"}, one)
    render_print(wide, {"Photo": "x", "Words": "a"}, one)

    assert len(made) == 3


def test_page_of_other_size_in_pixels_is_drawn(renderer):
    template = booklet(1)

    sizes = [
        Image.open(BytesIO(render_page(template, 0, values(1), pixels=pixels).png)).width
        for pixels in (300, 600, 300)
    ]

    assert sizes == [300, 600, 300]
    assert [form for form, _ in renderer.made].count("png") == 2
