"""PDF forms come from outside: what they unpack to must not fill the memory of the web process."""

import zlib

import pytest

from delivery.papers import services as papers
from delivery.papers.models import OfficialForm
from delivery.papers.services import add_official_form, fill_sample, filled_forms
from fulfillment.core.errors import Invalid
from tests.factories.forms import make_form

pytestmark = pytest.mark.django_db


def bomb(megabytes: int) -> bytes:
    """A PDF whose table of objects unpacks to so many megabytes."""
    packer, zeros = zlib.compressobj(1), bytes(1 << 20)
    packed = b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()
    head = f"1 0 obj\n<</Type/XRef/Size 9/W[1 2 1]/Root 1 0 R/Filter/FlateDecode/Length {len(packed)}>>\nstream\n"
    return b"%PDF-1.5\n" + head.encode() + packed + b"\nendstream\nendobj\nstartxref\n9\n%%EOF"


def test_form_that_unpacks_to_too_much_is_refused_in_a_process_of_its_own(monkeypatch):
    monkeypatch.setattr(papers, "MEMORY_BYTES", 200 << 20)
    content = bomb(300)
    assert len(content) < 2_000_000

    with pytest.raises(Invalid) as refused:
        add_official_form(file_name="form.pdf", content=content, by="operator")

    [fault] = refused.value.faults
    assert (fault.pointer, fault.code) == ("/file", "form_unreadable")
    assert not OfficialForm.objects.exists()


def test_forms_are_read_and_filled_as_before():
    form = add_official_form(file_name="form.pdf", content=make_form(), by="operator")
    assert fill_sample(form=form, by="operator").startswith(b"%PDF")

    with pytest.raises(Invalid) as refused:
        add_official_form(file_name="form.pdf", content=b"no PDF", by="operator")
    assert refused.value.faults[0].code == "form_unreadable"


def test_copies_that_would_be_too_large_together_are_not_made(monkeypatch):
    form = add_official_form(file_name="form.pdf", content=make_form(), by="operator")
    monkeypatch.setattr(papers, "MAX_FILLED_BYTES", len(form.content))
    sheets = {"drops": [{"rows": []}] * 2}

    filled = filled_forms(sheets)

    assert (filled.content, filled.count) == (b"", 0)
    assert "it needs 2 copies, and the limit is 1" in filled.note
