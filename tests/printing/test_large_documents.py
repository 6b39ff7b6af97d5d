"""What large PDFs are limited to, and how their pages are laid out."""

import io
import os
from dataclasses import asdict

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from printing.documents import DocumentRefused, Target, examine_document, examining, place_document, placing
from tests.support.printing.document_making import document, written
from tests.support.printing.pdf_making import one_page

PAGES, SIDE = 8, 200
CARD = [88.9, 50.8, 3.175]


@pytest.fixture
def shared(tmp_path):
    """A picture of 40 kB in the colors of a spot ink, which a proof keeps as it is."""
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
    pages = [asdict(page) for page in made.pages]
    return placing.place_in_folder(folder, [CARD] * PAGES, pages, 1, 144.0)


def test_pages_that_are_too_large_together_are_refused(shared, tmp_path, monkeypatch):
    monkeypatch.setattr(placing, "LAID_OUT_BYTES", 4 * len(shared), raising=False)

    assert laid_out(shared, tmp_path)["refused"][0] == "too_complex"
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 8 * len(shared)


def test_pages_whose_pictures_a_screen_shows_as_they_are_count_once(shared):
    made = examine_document(shared)

    placed = place_document(made.pdf, made.pages, [Target(*CARD)] * PAGES, ppi=144)

    assert all(screen is page for screen, page in zip(placed.screens, placed.pages, strict=True))
    # Each is in memory, however equal they are.
    assert sum(map(len, placed.pages)) <= placed.weight < (PAGES + 1) * len(shared)


def test_pages_of_one_picture_each_are_laid_out(tmp_path, monkeypatch):
    content = one_page(b"0 0 1 rg 0 0 252 144 re f", (252, 144))
    monkeypatch.setattr(placing, "LAID_OUT_BYTES", 40 * len(content), raising=False)

    assert "reply" in laid_out(content, tmp_path)


def test_too_many_objects_are_refused_before_the_file_is_opened(monkeypatch):
    """A million of them fill the memory, or take longer than a caller waits."""
    monkeypatch.setattr(examining, "OBJECTS", 5)
    monkeypatch.setattr(examining, "run_on_document", None)

    with pytest.raises(DocumentRefused, match="objects; allowed: 5"):
        examine_document(document(pages=3))


def test_pictures_packed_by_runs_are_taken():
    """As ImageMagick may write them."""
    with pikepdf.open(io.BytesIO(document())) as pdf:
        picture = pdf.make_stream(b"\xfe\xcc\x80", Width=1, Height=1, Subtype=Name.Image, BitsPerComponent=8)
        picture.ColorSpace, picture.Filter = Name.DeviceRGB, Name.RunLengthDecode
        pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(P=picture))
        out = io.BytesIO()
        pdf.save(out, stream_decode_level=pikepdf.StreamDecodeLevel.none)

    assert len(examine_document(out.getvalue()).pages) == 1


def test_fax_that_unpacks_to_too_many_pixels_is_refused():
    with pikepdf.open(io.BytesIO(document())) as pdf:
        picture = pdf.make_stream(b"\xff", Width=10, Height=10, Subtype=Name.Image)
        picture.Filter, picture.DecodeParms = Name.CCITTFaxDecode, Dictionary(Columns=1 << 30)
        pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(P=picture))
        content = written(pdf)

    with pytest.raises(DocumentRefused, match="a picture of 10,737,418,240 pixels"):
        examine_document(content)


@pytest.mark.parametrize("has_own", [True, False])
def test_forms_that_draw_each_other_ten_times_are_refused(has_own):
    with pikepdf.new() as pdf:
        forms = pdf.make_indirect(Dictionary())
        for number in range(6):
            forms[f"/F{number}"] = form = pdf.make_stream(
                f"/F{number + 1} Do ".encode() * 10, Subtype=Name.Form, BBox=Array([0, 0, 9, 9])
            )
            if has_own:
                form.Resources = Dictionary(XObject=forms)
        page = pdf.add_blank_page(page_size=(252, 144)).obj
        page.Resources, page.Contents = Dictionary(XObject=forms), pdf.make_stream(b"/F0 Do")
        content = written(pdf)

    with pytest.raises(DocumentRefused, match="a page that draws"):
        examine_document(content)


def test_forms_have_the_resources_of_the_first_page_that_lists_them():
    """A page before that draws less with them must not hide what prints."""
    with pikepdf.new() as pdf:
        forms = pdf.make_indirect(Dictionary())
        for number in range(6):
            forms[f"/F{number}"] = pdf.make_stream(
                f"/F{number + 1} Do ".encode() * 10, Subtype=Name.Form, BBox=Array([0, 0, 9, 9])
            )
        others = Dictionary({f"/G{number}": forms[f"/F{number}"] for number in range(6)})
        for resources, content in (
            (forms, b""),
            (others, b"/G0 Do /G1 Do /G2 Do /G3 Do"),
            (forms, b"/F0 Do"),
        ):
            page = pdf.add_blank_page(page_size=(252, 144)).obj
            page.Resources, page.Contents = Dictionary(XObject=resources), pdf.make_stream(content)
        content = written(pdf)

    with pytest.raises(DocumentRefused, match="a page that draws"):
        examine_document(content)


@pytest.mark.slow
def test_many_pages_are_in_order_after_two_processes():
    with pikepdf.open(io.BytesIO(document(pages=17))) as pdf:
        for number, page in enumerate(pdf.pages):
            page.Contents = pdf.make_stream(b"0.5 0.%02d 0 rg 0 0 300 300 re f" % number)
        made = examine_document(written(pdf))

    placed = place_document(made.pdf, made.pages, [Target(*CARD)] * 18, first=2, ppi=72)

    assert [drawn_on(content) for content in placed.pages] == [
        *(b"0.%02d" % number for number in range(1, 17)),
        b"",
        b"",
    ]
    assert [fact.page for fact in placed.facts] == [*made.pages[1:], None, None]
    assert (len(placed.screens), placed.missing) == (18, 2)


def drawn_on(content):
    with pikepdf.open(io.BytesIO(content)) as pdf:
        pdf.pages[0].contents_coalesce()
        _, _, color = pdf.pages[0].obj.Contents.read_bytes().partition(b"0.5 ")
        return color[:4]
