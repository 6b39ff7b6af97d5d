"""PDF artwork of an operator or of store staff may be made to harm: preflight reads it in another process."""

import io
import json
import tracemalloc
from typing import Any

import pikepdf
import pytest

from printing.artwork.parts import Part
from printing.artwork.pdf import read_pdf
from printing.artwork.pdf_content import LAYERS, Layers
from printing.preflight.artwork_facts import read_isolated


def pdf_of(content: bytes, **resources: Any) -> bytes:
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(200, 100))
    page.obj.Contents = pdf.make_stream(content)
    page.obj.Resources = pikepdf.Dictionary(**resources)
    out = io.BytesIO()
    pdf.save(out, compress_streams=True)
    return out.getvalue()


def test_reading_in_another_process_gives_the_same_facts():
    content = pdf_of(b"0.1 w 0 0 m 9 9 l S 0.5 0.5 0.5 1 k 1 1 5 5 re f BT /F1 3 Tf 1 0 0 1 5 5 Tm (a) Tj ET")

    assert read_isolated(content) == read_pdf(content)
    assert {part.kind for part in read_isolated(content).parts} >= {Part.LINE, Part.INK}


def test_content_that_unpacks_to_gigabytes_costs_the_web_process_nothing():
    content = pdf_of(b"0 0 1 1 re f " * 2_000_000)
    assert len(content) < 200_000

    tracemalloc.start()
    facts = read_isolated(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert not facts.is_readable
    assert peak < 5_000_000


@pytest.mark.parametrize("number", [b"9" * 400, b"1" + b"0" * 38 + b".5", b"-" + b"9" * 20])
def test_numbers_without_measure_leave_no_infinite_facts(number):
    facts = read_isolated(pdf_of(number + b" 0 0 " + number + b" 0 0 cm " + number + b" w 0 0 m 9 9 l S"))

    sizes = json.dumps([[part.size, part.area and [part.area.x, part.area.width]] for part in facts.parts])
    assert "Infinity" not in sizes
    assert "NaN" not in sizes


def test_many_layers_are_not_looked_through_one_by_one():
    """A page of black letters that overprint took four times as long."""
    compared = []

    class Plates(frozenset):
        def issubset(self, others):
            compared.append(others)
            return super().issubset(others)

    layers = Layers()
    for _ in range(2 * LAYERS):
        layers.add(Plates("K"), None)

    assert layers.shows_through({"K"}, None)
    assert compared == []
