"""Print-ready PDFs as customers send them."""

import io
from collections.abc import Sequence

import pikepdf
from pikepdf import Array

MM = 72 / 25.4
BLUE = b"0.8 0.5 0 0.1 k -1000 -1000 20000 20000 re f"


def document(
    *,
    size: tuple[float, float] = (88.9, 50.8),
    bleed: float = 3.175,
    margin: float = 0.0,
    pages: int = 1,
    content: bytes = BLUE,
    with_boxes: bool = True,
    **keys: object,
) -> bytes:
    """A PDF whose pages have this trimmed size, bleed, and a margin outside of it, in mm; `keys` are set on each."""
    pdf = pikepdf.Pdf.new()
    outer = bleed + margin
    width, height = (side + 2 * outer for side in size)
    for _ in range(pages):
        page = pdf.add_blank_page(page_size=(width * MM, height * MM)).obj
        page.Contents = pdf.make_stream(content)
        if with_boxes:
            page.TrimBox = box((outer, outer, width - outer, height - outer))
            page.BleedBox = box((margin, margin, width - margin, height - margin))
        for name, value in keys.items():
            page[f"/{name}"] = value
    return written(pdf)


def box(millimetres: Sequence[float]) -> Array:
    return Array([round(millimetre * MM, 4) for millimetre in millimetres])


def written(pdf: pikepdf.Pdf, **options: object) -> bytes:
    out = io.BytesIO()
    pdf.save(out, **options)
    return out.getvalue()
