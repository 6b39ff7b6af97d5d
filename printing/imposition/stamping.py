"""Stamps a print file with its job: number, page, copies, deadline and label as text, the number as a bar code.

The stamp lies outside of the bleed, on pages that leave room for marks there. The same file and job give the same
bytes.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import pikepdf

from printing.imposition.marks import (
    CROSS_MM,
    POINTS,
    bar_code,
    bar_code_width,
    bar_width,
    color_bar,
    cross,
    fold,
    registration,
    save_for_press,
    spot_inks,
    text_path,
    text_width,
)
from printing.imposition.sheets import ship_by_words

FORM_NAME = pikepdf.Name("/JobStamp")
# Around the bleed: crop marks begin half a millimetre off it, and a slug line takes the first four below.
ROOM_MM = 7.5
CLEAR_MM = 0.7
SIDE_MM = 3.0
# They end before the color bar.
FOLD_MM = 3.5
CODE_MM = 4.0
MODULES = (0.3, 0.25, 0.2)
LABEL_LENGTH = 60
TEXT_SIZES = (6.0, 5.0, 4.0, 3.0)


@dataclass(frozen=True, slots=True)
class Stamp:
    number: str
    copies: int
    ship_by: date | None
    label: str = ""
    is_head_to_foot: bool = False  # how the back of a sheet lies
    panels: int = 1  # of equal length, into which folds divide the longer side

    def words(self, page: int = 1, of: int = 1) -> str:
        """The page is named where there are several, and the turn where it is not the usual one."""
        turn = ", HEAD TO FOOT" if self.is_head_to_foot else ""
        place = f"   PAGE {page} OF {of}{turn}" if of > 1 else ""
        label = f"   {self.label[:LABEL_LENGTH]}" if self.label else ""
        return f"JOB {self.number}{place}   {self.copies:,} COPIES{ship_by_words(self.ship_by)}{label}"


def stamp_file(content: bytes, stamp: Stamp) -> bytes:
    """The file as it is, where no page has room or it is no PDF."""
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            title = str(pdf.docinfo.get("/Title", ""))
            spots = spot_inks(pdf)
            count = len(pdf.pages)
            stamped = [
                _stamp_page(pdf, page, stamp, stamp.words(number, count), spots)
                for number, page in enumerate(pdf.pages, 1)
            ]
            return save_for_press(pdf, title=title) if any(stamped) else content
    except pikepdf.PdfError:
        return content


def _stamp_page(
    pdf: pikepdf.Pdf, page: pikepdf.Page, stamp: Stamp, words: str, spots: Mapping[str, pikepdf.Object]
) -> bool:
    media, bleed, trim = (
        [float(edge) / POINTS for edge in edges] for edges in (page.mediabox, page.bleedbox, page.trimbox)
    )
    room = min(bleed[0] - media[0], bleed[1] - media[1], media[2] - bleed[2], media[3] - bleed[3])
    if room < ROOM_MM - 0.01:
        return False
    across, up = _find_folds(trim, stamp.panels)
    operators = [
        *_draw_job(stamp.number, words, trim, top=bleed[3] + CLEAR_MM, end=min(across, default=trim[2])),
        *_draw_register(bleed, trim, list(spots), is_low=bool(up)),
        *(
            fold(x, *end)
            for x in across
            for end in ((bleed[3] + CLEAR_MM, 0, FOLD_MM), (bleed[1] - CLEAR_MM, 0, -FOLD_MM))
        ),
        *(
            fold(x, y, step, 0)
            for y in up
            for x, step in ((bleed[2] + CLEAR_MM, FOLD_MM), (bleed[0] - CLEAR_MM, -FOLD_MM))
        ),
    ]
    form = pikepdf.Stream(
        pdf,
        "\n".join(operators).encode(),
        Type=pikepdf.Name.XObject,
        Subtype=pikepdf.Name.Form,
        BBox=[edge * POINTS for edge in media],
        Resources=pikepdf.Dictionary(ColorSpace=pikepdf.Dictionary({**spots, "/All": registration(pdf)})),
    )
    name = page.add_resource(pdf.make_indirect(form), pikepdf.Name.XObject, FORM_NAME)
    page.contents_add(b"q", prepend=True)
    page.contents_add(f"Q {name} Do".encode())
    return True


def _find_folds(trim: Sequence[float], panels: int) -> tuple[list[float], list[float]]:
    """The places of the folds, across and up the page."""
    width, height = trim[2] - trim[0], trim[3] - trim[1]
    parts = [part / panels for part in range(1, panels)]
    if width >= height:
        return [trim[0] + part * width for part in parts], []
    return [], [trim[1] + part * height for part in parts]


def _draw_job(number: str, words: str, trim: Sequence[float], *, top: float, end: float) -> list[str]:
    """A line of text over the bar code, above the trim and between its crop marks, before the first fold."""
    left, width = trim[0] + SIDE_MM, end - trim[0] - 2 * SIDE_MM
    size = next((size for size in TEXT_SIZES if text_width(words, size) <= width * POINTS), TEXT_SIZES[-1])
    line = text_path(words, size, left * POINTS, (top + CODE_MM + 0.6) * POINTS)
    operators = [f"q 0 0 0 1 k\n{line}\nQ"]
    fitting = [module for module in MODULES if bar_code_width(number, module) <= width]
    if fitting:
        operators.append(bar_code(number, left, top, module=fitting[0], height=CODE_MM))
    return operators


def _draw_register(
    bleed: Sequence[float], trim: Sequence[float], spots: Sequence[str], *, is_low: bool
) -> list[str]:
    """Crosses at the middle of each side, or lower beside folds, and the color bar below the room of the slug line."""
    middle = trim[1] + (trim[3] - trim[1]) / (4 if is_low else 2)
    off = CLEAR_MM + CROSS_MM / 2 + 1
    operators = [cross(bleed[0] - off, middle), cross(bleed[2] + off, middle)]
    room = trim[2] - trim[0] - 2 * SIDE_MM
    fitting = [candidate for candidate in (spots, ()) if bar_width(candidate) <= room]
    if fitting:
        left = (trim[0] + trim[2] - bar_width(fitting[0])) / 2
        operators.append(color_bar(left, bleed[1] - ROOM_MM, fitting[0]))
    return operators
