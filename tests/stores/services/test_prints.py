import hashlib
from io import BytesIO

import pytest
from pypdf import PdfReader

from accounts.callers import Caller
from fulfillment.errors import Conflict, Invalid
from stores.services.prints import check_values, render_print_file
from tests.factories.templates import make_card, make_demo_product

VALUES = {"Name": "Ada Lovelace", "Email": "ada@engine.example"}


def test_print_file_has_bleed_and_no_mark(world):
    product = make_demo_product(world.associated, "business-card-standard")

    printed = render_print_file(caller=Caller(), product=product, values=VALUES)

    assert printed.sha256 == hashlib.sha256(printed.content).hexdigest()
    pdf = PdfReader(BytesIO(printed.content))
    first = pdf.pages[0]
    assert len(pdf.pages) == 2
    assert [round(float(side) * 25.4 / 72, 1) for side in (first.trimbox.width, first.trimbox.height)] == [
        88.9,
        50.8,
    ]
    assert round(float(first.bleedbox.width) * 25.4 / 72, 2) == 95.25
    text = first.extract_text()
    assert ("Ada Lovelace" in text, "PROOF" in text) == (True, False)


def test_same_values_give_the_same_print_file(world):
    product = make_card(world.associated)

    files = [render_print_file(caller=Caller(), product=product, values={"Name": "Ada"}) for _ in range(2)]

    assert files[0] == files[1]


def test_values_are_checked_with_and_without_rendering(world):
    product = make_card(world.associated)

    check_values(caller=Caller(), product=product, values={"Name": "Ada"})
    for work in (check_values, render_print_file):
        with pytest.raises(Invalid) as refusal:
            work(caller=Caller(), product=product, values={})
        assert [fault.pointer for fault in refusal.value.faults] == ["/Name"]

    plain = make_card(world.demo, Template=None)
    with pytest.raises(Conflict, match="no template"):
        check_values(caller=Caller(), product=plain, values={})
