"""A renderer holds a picture whole while it draws it: 150 MB for 50 megapixels. Four at once took 500 MB."""

from contextlib import contextmanager

import pytest

from printing.press import isolation
from printing.press.rules import ColourPolicy, PresetRules
from printing.typesetting import Field, parse_template, render_pdf_page, render_print, render_proof
from printing.typesetting.press import Press
from printing.typesetting.workers import Worker
from tests.support.made_templates import card, picture

CMYK, MANAGED = (Press(PresetRules(policy=one)) for one in (ColourPolicy.CMYK, ColourPolicy.MANAGED))


def photo_template(width, height, *, pages=1):
    box = {"Field": "Photo", "Kind": "Image", "X": 0, "Y": 0, "Width": width, "Height": height}
    return parse_template(
        {"Pages": card(box)["Pages"] * pages}, [Field("Photo", type="Image", sub_type="Upload")]
    )


@pytest.fixture
def was_alone(monkeypatch):
    """For each request to a renderer, whether it was sent in the lane of large pictures."""
    sent = []

    @contextmanager
    def noted():
        with one_at_a_time() as waited:
            alone.append(True)
            yield waited
            alone.pop()

    def send(worker, *message):
        sent.append(bool(alone))
        return original(worker, *message)

    alone, one_at_a_time, original = [], isolation.one_at_a_time, Worker.send
    monkeypatch.setattr(isolation, "one_at_a_time", noted)
    monkeypatch.setattr(Worker, "send", send)
    monkeypatch.setattr(isolation, "RENDERED_PIXELS", 100_000)
    return sent


def test_renderers_hold_one_large_picture_at_a_time(was_alone):
    template, values = photo_template(80, 50), ({"Photo": "x"}, {"Photo": picture(400, 300)})
    printed = render_print(template, *values, press=MANAGED)
    render_proof(photo_template(80, 50, pages=9), *values)
    render_proof(template, *values, press=CMYK)
    render_pdf_page(printed.pdf, 0, pixels=100, trimmed=True)

    assert was_alone == [True] * 4


def test_other_pictures_wait_for_no_large_one(was_alone):
    template, values = photo_template(80, 50), ({"Photo": "x"}, {"Photo": picture(300, 300)})
    printed = render_print(template, *values)
    render_proof(template, *values, press=CMYK)
    render_pdf_page(printed.pdf, 0, pixels=100, trimmed=True)
    # No renderer sees these two whole.
    large = {"Photo": "x"}, {"Photo": picture(1000, 600)}
    render_print(template, *large, press=CMYK)
    render_proof(photo_template(30, 20), *large)

    # A second renderer may have drawn the pages of the last one.
    assert was_alone in ([False] * 5, [False] * 6)
