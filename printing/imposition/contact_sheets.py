"""Contact sheets: the first page of many PDFs, small, twenty to a page, each with its caption."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import pikepdf
from PIL import Image

from printing.imposition.marks import POINTS, text_path, text_width
from printing.pictures import encode_picture
from printing.press.objects import image_stream, pack_streams, save_pdf

COLUMNS, ROWS = 4, 5
CELLS = COLUMNS * ROWS
# US Letter; it is printed well on A4 too.
WIDTH, HEIGHT = 612.0, 792.0
MARGIN, GAP, CAPTION = 12 * POINTS, 4 * POINTS, 7 * POINTS
CELL_WIDTH = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * GAP) / COLUMNS
CELL_HEIGHT = (HEIGHT - 2 * MARGIN - (ROWS - 1) * GAP) / ROWS
TEXT_SIZE, LINE = 6.5, 8.5
# Far more letters than a caption has room for: measuring ever shorter texts takes quadratic time.
MAX_LENGTH = 200
RED, BLACK, GRAY = "0.75 0 0 rg", "0 g", "0.6 G 0.4 w"


@dataclass(frozen=True, slots=True)
class Cell:
    """`page` is a PDF, whose first page is shown, or a PNG; a cell that `is_marked` has a red caption."""

    page: bytes | None
    lines: Sequence[str]
    is_marked: bool = False


def contact_sheet(cells: Iterable[Cell], *, title: str) -> bytes:
    """Makes one PDF; without cells it has one empty page."""
    with pikepdf.new() as pdf:
        remaining = iter(cells)
        while cells_of_page := list(islice(remaining, CELLS)):
            _add_page(pdf, cells_of_page)
        if not len(pdf.pages):
            _add_page(pdf, ())
        pdf.docinfo["/Title"] = title
        pack_streams(pdf)
        return save_pdf(pdf, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def _add_page(pdf: pikepdf.Pdf, cells: Sequence[Cell]) -> None:
    page = pdf.add_blank_page(page_size=(WIDTH, HEIGHT))
    operators = []
    for index, cell in enumerate(cells):
        left = MARGIN + index % COLUMNS * (CELL_WIDTH + GAP)
        top = HEIGHT - MARGIN - index // COLUMNS * (CELL_HEIGHT + GAP)
        if cell.page:
            operators.append(_draw_page(pdf, page, cell.page, left, top))
        else:
            operators.append(
                f"q {GRAY} {left:.2f} {top - CELL_HEIGHT + CAPTION:.2f} {CELL_WIDTH:.2f} "
                f"{CELL_HEIGHT - CAPTION:.2f} re S Q"
            )
        operators.append(_draw_caption(cell, left, top - CELL_HEIGHT + CAPTION - LINE))
    page.contents_add("\n".join(operators).encode())


def _draw_page(pdf: pikepdf.Pdf, page: pikepdf.Page, content: bytes, left: float, top: float) -> str:
    """The page, as large as the cell takes it."""
    xobject, box, unit = (_add_form if content.startswith(b"%PDF") else _add_image)(pdf, content)
    name = page.add_resource(xobject, pikepdf.Name.XObject)
    width, height = box[2] - box[0], box[3] - box[1]
    scale = min(CELL_WIDTH / width, (CELL_HEIGHT - CAPTION) / height)
    x, y = left + (CELL_WIDTH - width * scale) / 2, top - height * scale
    frame = f"{x:.2f} {y:.2f} {width * scale:.2f} {height * scale:.2f} re"
    size = f"{unit[0] * scale:.5f} 0 0 {unit[1] * scale:.5f}"
    matrix = f"{size} {x - box[0] * scale:.3f} {y - box[1] * scale:.3f} cm"
    return f"q {frame} W n {matrix} {name} Do Q\nq {GRAY} {frame} S Q"


Drawn = tuple[pikepdf.Object, Sequence[float], tuple[float, float]]


def _add_form(pdf: pikepdf.Pdf, content: bytes) -> Drawn:
    """The first page, its trim box, and what one unit of it is."""
    with pikepdf.open(io.BytesIO(content)) as source:
        first = source.pages[0]
        return pdf.copy_foreign(first.as_form_xobject()), [float(edge) for edge in first.trimbox], (1, 1)


def _add_image(pdf: pikepdf.Pdf, content: bytes) -> Drawn:
    """The picture at 300 dpi of its cell, as JPEG, its box, and its size, which is one unit."""
    with Image.open(io.BytesIO(content)) as picture:
        picture.thumbnail((round(CELL_WIDTH / 72 * 300), round(CELL_HEIGHT / 72 * 300)))
        content = encode_picture(picture.convert("RGB"), "JPEG", quality=85)
    size = picture.size
    return image_stream(pdf, content, size, "/DeviceRGB", "/DCTDecode"), (0, 0, *size), size


def _draw_caption(cell: Cell, left: float, top: float) -> str:
    paths = [
        text_path(_shorten_text(text), TEXT_SIZE, left, top - number * LINE)
        for number, text in enumerate(cell.lines[:2])
    ]
    return f"q {RED if cell.is_marked else BLACK}\n" + "\n".join(paths) + "\nQ"


def _shorten_text(text: str) -> str:
    text = text[:MAX_LENGTH]
    while text and text_width(text, TEXT_SIZE) > CELL_WIDTH:
        text = text[:-2].rstrip("\N{HORIZONTAL ELLIPSIS}") + "\N{HORIZONTAL ELLIPSIS}"
    return text
