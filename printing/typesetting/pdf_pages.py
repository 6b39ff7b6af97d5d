"""Pictures of print files, rendered from the file that goes to the press."""

import io
import json
from contextlib import nullcontext, suppress

import pikepdf

from printing.press import isolation
from printing.typesetting.errors import RenderingFailed
from printing.typesetting.runs import typeset_alone

SECONDS = 10.0
MM = 25.4 / 72
# A banner is long: its picture is no longer than this many times its width.
MAX_STRETCH = 4
PIXELS = 16_000_000


def count_pdf_pages(pdf: bytes) -> int:
    with _open_pdf(pdf) as document:
        return len(document.pages)


def pdf_page_areas(pdf: bytes) -> list[tuple[float, float, float, float]]:
    """The sheet of each page: left, top, width and height in mm from the upper left corner of its trim."""
    with _open_pdf(pdf) as document:
        boxes = [
            (_read_boxes(page, trimmed=False)[0], _read_boxes(page, trimmed=True)[1])
            for page in document.pages
        ]
    return [(-trim[0] * MM, -trim[1] * MM, sheet[0] * MM, sheet[1] * MM) for sheet, trim in boxes]


def render_pdf_page(pdf: bytes, number: int, *, pixels: int, trimmed: bool) -> bytes:
    """A PNG of page `number`, from 0, `pixels` wide; `trimmed` leaves out bleed and crop marks.

    It is narrower where it would have more than PIXELS. Raises IndexError, RenderingFailed or RenderingBusy.
    """
    with _open_pdf(pdf) as document:
        sheet, box = _read_boxes(document.pages[number], trimmed=trimmed)
        is_large = any(_count_pixels(item) > isolation.RENDERED_PIXELS for item in document.objects)
    width, height = box[2], box[3]
    longest = min(pixels * MAX_STRETCH * width / height, (PIXELS * width / height) ** 0.5)
    pixels = min(pixels, max(1, int(longest)))
    job = {
        "page": number + 1,
        "box": box,
        "sheet": sheet,
        "width": pixels,
        "height": max(1, round(pixels * height / width)),
    }
    setting = {
        "layout": "pdf page",
        "timestamp": 0,
        "ppi": 72,
        "shown_ppi": pixels / (width / 72),
        "outputs": ["png"],
    }
    parts = [json.dumps(job).encode(), pdf]
    with isolation.one_at_a_time() if is_large else nullcontext():
        header, outputs = typeset_alone(setting, parts, SECONDS)
    if not header["ok"]:
        raise RenderingFailed(f"The typesetter cannot show the page: {header['message']}")
    return outputs[0]


def _open_pdf(pdf: bytes) -> pikepdf.Pdf:
    try:
        return pikepdf.open(io.BytesIO(pdf))
    except pikepdf.PdfError as error:
        raise RenderingFailed("The PDF cannot be read.") from error


def _read_boxes(
    page: pikepdf.Page, *, trimmed: bool
) -> tuple[tuple[float, float], tuple[float, float, float, float]]:
    """Width and height of the sheet, and what is shown of it: left, top, width and height."""
    left, bottom, right, top = (float(side) for side in page.mediabox)
    sheet = (right - left, top - bottom)
    if not trimmed:
        return sheet, (0.0, 0.0, *sheet)
    x0, y0, x1, y1 = (float(side) for side in page.trimbox)
    return sheet, (x0 - left, top - y1, x1 - x0, y1 - y0)


def _count_pixels(item: pikepdf.Object) -> int:
    """Counts the pixels of a picture; the PDF of a template may say anything in place of numbers."""
    if isinstance(item, pikepdf.Stream) and item.get("/Subtype") == "/Image":
        with suppress(TypeError, ValueError):
            return int(item.get("/Width", 0)) * int(item.get("/Height", 0))
    return 0
