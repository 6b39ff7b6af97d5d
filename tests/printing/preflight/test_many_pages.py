"""Preflight of a PDF with many pages draws each page once, all of them in one rendering."""

import hashlib

from pikepdf import Dictionary, Name

from printing.documents import Target, examine_document, place_document
from printing.preflight import Job, preflight
from printing.preflight import background_pixels as drawing
from printing.preflight.findings import USUAL
from printing.typesetting import Artwork, FontSet, Template
from printing.typesetting.template import Page
from tests.support.document_making import BLUE, document

CARD = Target(88.9, 50.8, 3.175)
WORDS = BLUE + b" 1 1 1 rg BT /F 5.5 Tf 40 60 Td (Small words on blue) Tj ET"


def test_pages_with_letters_are_drawn_once_and_together(monkeypatch):
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
    made = examine_document(document(pages=3, content=WORDS, Resources=Dictionary(Font=Dictionary(F=font))))
    placed = place_document(made.pdf, made.pages, [CARD] * 3, ppi=144)
    digests = [hashlib.sha256(one).hexdigest() for one in placed.screens]
    artwork = {
        str(number): Artwork(str(number), "application/pdf", content, digest, 0, 0, is_placed=True)
        for number, (content, digest) in enumerate(zip(placed.screens, digests, strict=True))
    }
    pages = tuple(Page(CARD.width, CARD.height, CARD.bleed, name, ()) for name in artwork)
    template = Template("three pages", pages, artwork, {}, frozenset())
    drawn = []
    draw = drawing.render_backgrounds
    monkeypatch.setattr(
        drawing, "render_backgrounds", lambda some, ppi: drawn.append(len(some.pages)) or draw(some, ppi=ppi)
    )

    facts = dict(zip(digests, placed.facts, strict=True))
    found = preflight(Job(template, {}, {}, FontSet.shipped(), facts=facts), USUAL)

    assert drawn == [3]
    assert {one.page for one in found if one.code == "text_small_reversed"} == {1, 2, 3}
