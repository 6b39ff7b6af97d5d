"""One customer's upload never shows in what another one is given, also if artwork asks for it by its path."""

import itertools
import threading

import pytest

from printing.typesetting import Field, RenderingFailed, parse_template, render_proof
from printing.typesetting.workers import shared_workers
from tests.support.printing.made_templates import card, picture, text_box, unread_artwork

PHOTO = {"Field": "Photo", "Kind": "Image", "X": 0, "Y": 0, "Width": 40, "Height": 40}
LINKED = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 94.9 56.8">'
    '<image href="{}" width="95" height="57"/></svg>'
)


@pytest.fixture
def other_customer():
    """A tenant whose photos are rendered continuously; gives their number so far."""
    template = parse_template(card(PHOTO), [Field("Photo", type="Image", sub_type="Upload")])
    photo, stop, rendered = picture(300, 300, color=(255, 0, 0)), threading.Event(), []

    def render():
        while not stop.is_set():
            rendered.append(render_proof(template, {"Photo": "7"}, {"Photo": photo}).pages)

    thread = threading.Thread(target=render)
    thread.start()
    yield rendered
    stop.set()
    thread.join()


def test_upload_of_another_job_cannot_be_drawn(other_customer):
    steps = ("#", "#/", "")
    places = [f"jobs/{slot}/0.{form}" for slot in range(shared_workers.limit) for form in ("png", "jpg")]
    targets = [
        "/".join([start.rstrip("/"), *[".."] * up, place])
        for start in steps
        for up in (1, 2, 3)
        for place in ("0.png", "0/0.png", "1/0.png", *places)
    ]

    # Each target once, then again until the other customer had proofs beside them: attacks alone would show nothing.
    for tried, target in enumerate(itertools.islice(itertools.cycle(targets), 50 * len(targets)), start=1):
        with pytest.raises(RenderingFailed, match="failed to load linked image"):
            render_proof(unread_artwork(LINKED.format(target), text_box()), {"Words": "x"})
        if tried >= len(targets) and len(other_customer) > 5:
            break

    assert len(other_customer) > 5


def test_upload_of_the_job_before_is_removed():
    template = parse_template(card(PHOTO), [Field("Photo", type="Image", sub_type="Upload")])
    for _ in range(2 * shared_workers.limit):
        render_proof(template, {"Photo": "7"}, {"Photo": picture(300, 300)})

    for _ in range(2 * shared_workers.limit):
        with pytest.raises(RenderingFailed, match="file not found"):
            render_proof(unread_artwork(LINKED.format("../0.png"), text_box()), {"Words": "x"})
