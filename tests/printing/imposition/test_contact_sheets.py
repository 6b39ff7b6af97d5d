import io

import pikepdf

from printing.imposition import contact_sheets
from printing.imposition.contact_sheets import Cell, contact_sheet


def test_long_caption_is_measured_from_its_beginning_alone(monkeypatch):
    """500 captions of 1,000 letters held the font for half a minute."""
    measured = []
    monkeypatch.setattr(
        contact_sheets, "text_width", lambda text, size: measured.append(len(text)) or 4.0 * len(text)
    )

    pdf = contact_sheet([Cell(None, ["x" * 1000])], title="Rows")

    assert pdf.startswith(b"%PDF-")
    assert max(measured) == contact_sheets.MAX_LENGTH
    assert min(measured) * 4.0 <= contact_sheets.CELL_WIDTH


def test_contents_are_compressed_before_the_library_saves_them_which_stops_all_threads(monkeypatch):
    """The library compressed those of 100 cards in one call, and other requests waited 0.3 s for it."""
    page, left, saved = io.BytesIO(), [], contact_sheets.save_pdf
    with pikepdf.new() as pdf:
        pdf.add_blank_page().contents_add(b"0 0 9 9 re f\n" * 100)
        pdf.save(page)

    def save(pdf, **options):
        left.extend(
            part for part in pdf.objects if isinstance(part, pikepdf.Stream) and "/Filter" not in part
        )
        return saved(pdf, **options)

    monkeypatch.setattr(contact_sheets, "save_pdf", save)
    content = contact_sheet([Cell(page.getvalue(), ["Ada"])] * 21, title="Rows")

    assert left == []
    with pikepdf.open(io.BytesIO(content)) as pdf:
        forms = [form for page in pdf.pages for form in page.Resources.XObject.values()]
        assert [form.read_bytes().count(b"re f") for form in forms] == [100] * 21
