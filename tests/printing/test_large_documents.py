"""A PDF whose pages share a picture is laid out as pages that each hold it."""

import os
from dataclasses import asdict

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from printing.documents import examine_document, placing
from tests.support.pdf_making import one_page

PAGES, SIDE = 8, 200
CARD = [88.9, 50.8, 3.175]


@pytest.fixture
def shared(tmp_path):
    """A picture of 40 kB in the colours of a spot ink, which a proof keeps as it is."""
    with pikepdf.new() as pdf:
        picture = pdf.make_stream(os.urandom(SIDE * SIDE))
        tint = pdf.make_stream(b"{ 0 exch 0 exch 0 exch }", FunctionType=4, Domain=[0, 1], Range=[0, 1] * 4)
        inks = Array([Name.Separation, Name("/Gold"), Name.DeviceCMYK, tint])
        picture.stream_dict = Dictionary(
            Type=Name.XObject,
            Subtype=Name.Image,
            Width=SIDE,
            Height=SIDE,
            ColorSpace=inks,
            BitsPerComponent=8,
        )
        for _ in range(PAGES):
            page = pdf.add_blank_page(page_size=(252, 144)).obj
            page.Resources = Dictionary(XObject=Dictionary(P=picture))
            page.Contents = pdf.make_stream(b"q 252 0 0 144 0 0 cm /P Do Q")
        pdf.save(tmp_path / "made")
    return (tmp_path / "made").read_bytes()


def laid_out(content, folder):
    made = examine_document(content)
    (folder / placing.SENT).write_bytes(made.pdf)
    pages = [asdict(one) for one in made.pages]
    return placing.place_in_folder(folder, [CARD] * PAGES, pages, 1, 144.0)


def test_pages_that_are_too_large_together_are_refused(shared, tmp_path, monkeypatch):
    monkeypatch.setattr(placing, "LAID_OUT_BYTES", 4 * len(shared), raising=False)

    assert laid_out(shared, tmp_path)["refused"][0] == "too_complex"
    assert sum(one.stat().st_size for one in tmp_path.iterdir()) < 8 * len(shared)


def test_pages_of_one_picture_each_are_laid_out(tmp_path, monkeypatch):
    content = one_page(b"0 0 1 rg 0 0 252 144 re f", (252, 144))
    monkeypatch.setattr(placing, "LAID_OUT_BYTES", 40 * len(content), raising=False)

    assert "answer" in laid_out(content, tmp_path)
