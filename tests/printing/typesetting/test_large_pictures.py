"""A renderer holds a picture whole while it draws it: 150 MB for 50 megapixels. Four at once took 500 MB."""

from contextlib import contextmanager

import pytest

from printing import waiting
from printing.press import isolation
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import (
    Field,
    parse_template,
    render_page,
    render_pdf_page,
    render_print,
    render_proof,
)
from printing.typesetting.press import Press
from printing.typesetting.render_input import RenderInputBuilder
from printing.typesetting.workers import Worker
from tests.support.patience import PATIENCE
from tests.support.printing.made_templates import card, picture

CMYK, MANAGED = (Press(PresetRules(policy=policy)) for policy in (ColorPolicy.CMYK, ColorPolicy.MANAGED))


def photo_template(width, height, *, pages=1):
    box = {"Field": "Photo", "Kind": "Image", "X": 0, "Y": 0, "Width": width, "Height": height}
    return parse_template(
        {"Pages": card(box)["Pages"] * pages}, [Field("Photo", type="Image", sub_type="Upload")]
    )


def render_page_of(template, *values, seconds):
    return render_page(template, 0, *values, pixels=100, seconds=seconds)


@pytest.fixture
def was_alone(monkeypatch):
    """For each request to a renderer, whether it was sent in the lane of large pictures."""
    sent = []

    @contextmanager
    def noted():
        with one_at_a_time():
            alone.append(True)
            yield
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


@pytest.mark.parametrize(
    "render", [render_proof, render_print, render_page_of], ids=lambda render: render.__name__
)
def test_wait_of_what_is_prepared_is_no_time_of_the_renderer(monkeypatch, render):
    """As if a picture had waited for longer than the rendering may take until it was separated."""

    def build(builder, *values):
        waiting._waited.seconds += 2 * PATIENCE
        return original(builder, *values)

    original = RenderInputBuilder.build
    monkeypatch.setattr(RenderInputBuilder, "build", build)
    assert render(photo_template(80, 50), {"Photo": "x"}, {"Photo": picture(30, 20)}, seconds=-PATIENCE)
