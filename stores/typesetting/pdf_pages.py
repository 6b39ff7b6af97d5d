"""Pictures of the pages of a print file, drawn from the very file that goes to the press."""

import json
import re
import time

from stores.typesetting.errors import RenderingFailed
from stores.typesetting.fonts import FontSet
from stores.typesetting.print_boxes import page_objects
from stores.typesetting.workdir import current_workdir
from stores.typesetting.workers import shared_workers

SECONDS = 10.0
# A banner is long: its picture is no longer than this many times its width.
LONGEST = 4
_BOX = r"/%s\s*\[([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)\]"
_MEDIA = re.compile((_BOX % "MediaBox").encode())
_TRIM = re.compile((_BOX % "TrimBox").encode())


def count_pdf_pages(pdf: bytes) -> int:
    return len(page_objects(pdf))


def render_pdf_page(
    pdf: bytes, number: int, *, pixels: int, trimmed: bool, seconds: float = SECONDS
) -> bytes:
    """A PNG of page `number`, from 0, so many pixels wide; `trimmed` leaves out bleed and crop marks.

    Raises IndexError, RenderingFailed or RenderingBusy.
    """
    sheet, box = _boxes(pdf, page_objects(pdf)[number], trimmed=trimmed)
    width, height = box[2], box[3]
    pixels = min(pixels, max(1, int(pixels * LONGEST * width / height)))
    job = {
        "page": number + 1,
        "box": box,
        "sheet": sheet,
        "width": pixels,
        "height": max(1, round(pixels * height / width)),
    }
    return _draw(pdf, job, seconds)


def _boxes(
    pdf: bytes, at: int, *, trimmed: bool
) -> tuple[tuple[float, float], tuple[float, float, float, float]]:
    """Width and height of the sheet, and what is shown of it: left, top, width and height."""
    media, trim = (pattern.search(pdf, at, at + 2000) for pattern in (_MEDIA, _TRIM))
    if media is None:
        raise RenderingFailed("The PDF is not of the form that the typesetter writes.")
    _, _, right, top = map(float, media.groups())
    if trim is None or not trimmed:
        return (right, top), (0.0, 0.0, right, top)
    x0, y0, x1, y1 = map(float, trim.groups())
    return (right, top), (x0, top - y1, x1 - x0, y1 - y0)


def _draw(pdf: bytes, job: dict[str, object], seconds: float) -> bytes:
    deadline = time.monotonic() + seconds
    workdir = current_workdir()
    setting = {
        "layout": "pdf page",
        "timestamp": 0,
        "workdir": str(workdir.root),
        "fonts": workdir.font_folder(FontSet.shipped()),
        "ppi": 72,
        "outputs": [("png", 0)],
    }
    with shared_workers.lend(deadline, 0) as [worker]:
        root = workdir.lay_out_pdf(worker.slot, pdf)
        try:
            worker.send({**setting, "root": str(root)}, [json.dumps(job).encode()], deadline)
            header, parts = worker.receive(deadline)
        finally:
            workdir.clear_job(root)
    if not header["ok"]:
        raise RenderingFailed(f"The typesetter cannot show the page: {header['message']}")
    return parts[0]
