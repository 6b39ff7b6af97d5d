"""Preflight of a PDF with many pages draws each page once, all of them in one rendering."""

import hashlib
import time
from itertools import count

import pytest
from pikepdf import Dictionary, Name
from PIL import Image

from printing.area import Area
from printing.documents import Target, examine_document, place_document
from printing.preflight import PreflightInput, preflight
from printing.preflight import background_pixels as drawing
from printing.preflight.findings import USUAL
from printing.typesetting import Artwork, FontSet, RenderingBusy, RenderingTimedOut, Template
from printing.typesetting.template import Page
from tests.support.printing.document_making import BLUE, document

CARD = Target(88.9, 50.8, 3.175)
WORDS = BLUE + b" 1 1 1 rg BT /F 5.5 Tf 40 60 Td (Small words on blue) Tj ET"


def test_pages_with_letters_are_drawn_once_and_together(monkeypatch):
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
    made = examine_document(document(pages=3, content=WORDS, Resources=Dictionary(Font=Dictionary(F=font))))
    placed = place_document(made.pdf, made.pages, [CARD] * 3, ppi=144)
    digests = [hashlib.sha256(screen).hexdigest() for screen in placed.screens]
    artwork = {
        str(number): Artwork(str(number), "application/pdf", content, digest, 0, 0, is_placed=True)
        for number, (content, digest) in enumerate(zip(placed.screens, digests, strict=True))
    }
    pages = tuple(Page(CARD.width, CARD.height, CARD.bleed, name, ()) for name in artwork)
    template = Template("three pages", pages, artwork, {}, frozenset())
    drawn = []
    draw = drawing.render_backgrounds
    monkeypatch.setattr(
        drawing, "render_backgrounds", lambda some, **how: drawn.append(len(some.pages)) or draw(some, **how)
    )

    facts = dict(zip(digests, placed.facts, strict=True))
    found = preflight(PreflightInput(template, {}, {}, FontSet.shipped(), facts=facts), USUAL)

    assert drawn == [3]
    assert {finding.page for finding in found if finding.code == "text_small_reversed"} == {1, 2, 3}


def test_pages_that_take_too_long_are_not_all_tried_alone(monkeypatch):
    """A quote of 200 such pages held a thread and a renderer for half an hour."""
    pages = tuple(Page(CARD.width, CARD.height, CARD.bleed, str(number), ()) for number in range(200))
    artwork = {
        page.background: Artwork(page.background, "application/pdf", b"", "slow", 0, 0) for page in pages
    }
    tried, clock = [], count(step=10)

    def draw(some, **how):
        tried.append(len(some.pages))
        raise RenderingTimedOut

    monkeypatch.setattr(drawing, "render_backgrounds", draw)
    monkeypatch.setattr(drawing, "monotonic", lambda: next(clock), raising=False)

    assert drawing.background_pixels_of(Template("slow", pages, artwork, {}, frozenset()), range(200)) == {}
    assert tried == [200, *[1] * (len(tried) - 1)]
    assert len(tried) < 10


def test_pages_are_not_unread_because_renderers_are_busy(monkeypatch):
    pages = tuple(Page(CARD.width, CARD.height, CARD.bleed, str(number), ()) for number in range(2))
    artwork = {
        page.background: Artwork(page.background, "application/pdf", b"", "busy", 0, 0) for page in pages
    }
    tried = []

    def draw(some, **how):
        tried.append(len(some.pages))
        raise RenderingBusy

    monkeypatch.setattr(drawing, "render_backgrounds", draw)
    with pytest.raises(RenderingBusy):
        drawing.background_pixels_of(Template("busy", pages, artwork, {}, frozenset()), range(2))

    assert tried == [2]


def test_color_behind_letters_as_large_as_the_page_takes_little_time():
    """A PDF of two pages with thousands of such letters took eight seconds, one of a booklet minutes."""
    picture = Image.new("RGB", (1200, 1200), "white")
    picture.paste("black", (0, 0, 600, 1200))
    ground = drawing.BackgroundPixels(picture, scale=2.0, bleed=0.0)
    began = time.thread_time()

    found = [ground.mean(Area(0, number / 1000, 600, 600)) for number in range(1000)]

    assert time.thread_time() - began < 1
    assert all(shade == pytest.approx((127, 127, 127), abs=5) for shade in found)
