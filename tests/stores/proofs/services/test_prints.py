import hashlib
from io import BytesIO

import pytest
from pypdf import PdfReader

from accounts.callers import Caller
from fulfillment.core.errors import Invalid
from stores.proofs.selectors import product_version_of
from stores.proofs.services.print_rendering import render_print_file
from tests.factories.templates import make_card, make_demo_product

VALUES = {"Name": "Ada Lovelace", "Email": "ada@engine.example"}


def print_file(product, values):
    return render_print_file(caller=Caller(), product=product_version_of(product.pk), values=values)


def test_print_file_has_bleed_and_no_mark(world):
    product = make_demo_product(world.associated, "business-card-standard")

    printed = print_file(product, VALUES)

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

    files = [print_file(product, {"Name": "Ada"}) for _ in range(2)]

    assert files[0] == files[1]


def test_faults_point_into_the_values(world):
    product = make_card(world.associated)

    with pytest.raises(Invalid) as refusal:
        print_file(product, {})
    assert [fault.pointer for fault in refusal.value.faults] == ["/Name"]

    plain = make_card(world.demo, Template=None)
    with pytest.raises(Invalid) as refusal:
        print_file(plain, {})
    assert [fault.pointer for fault in refusal.value.faults] == ["/Name"]


def test_template_that_is_known_is_not_read_again(world, django_assert_num_queries):
    product = make_card(world.associated)
    print_file(product, {"Name": "Ada"})

    with django_assert_num_queries(1) as queries:
        print_file(product, {"Name": "Grace"})

    assert "template IS NOT NULL" in queries.captured_queries[0]["sql"]
    assert "template::text" not in queries.captured_queries[0]["sql"]
