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
