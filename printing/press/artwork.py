"""Print-ready PDFs: made of pages that print as they are shown, and placed by their trim.

Overprint and blending spaces are left to the writer of print files, which knows the preset.
"""

import math
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pikepdf

from printing.area import Area
from printing.errors import CodedError
from printing.press.clips import part_clips
from printing.press.groups import open_groups
from printing.press.inherited import name_opacities
from printing.press.layers import remove_hidden_layers
from printing.press.masks import resolve_masks
from printing.press.nesting import NAME, LongName, depth_of
from printing.press.objects import drop, drop_unnamed, give_resources, save_pdf, unwrap_jpegs
from printing.press.opacities import set_gradients_again
from printing.press.plain import make_plain
from printing.press.stencils import group_stencils
from printing.press.streams import Matrix
from printing.press.tiles import bound_tiles, color_tiles, fade_tiles

MM = 25.4 / 72
PAGES = 200
# Dictionaries and arrays within each other; a form takes three. A web thread that copies a page has room for more.
DEEP = 500
# Boxes that differ less are the same.
SAME_MM = 0.1
# Flags of annotations that are not shown.
HIDDEN, NO_VIEW = 2, 32
_UNSEEN = frozenset({"/Link", "/Popup"})
_OF_PAGES = frozenset(
    (
        "/Type",
        "/Parent",
        "/MediaBox",
        "/CropBox",
        "/BleedBox",
        "/TrimBox",
        "/Resources",
        "/Contents",
        "/Group",
    )
)


class ArtworkRefused(CodedError, ValueError):
    """A PDF that cannot be printed."""


@dataclass(frozen=True, slots=True)
class ArtworkPage:
    """A page in mm as it is looked at, turned and at its true size; `trim` and `bleed` where the file names them.

    A CropBox counts as the trim where there is no TrimBox.

    `annotations` and `fields` count the shown ones, which are ordinary content now; `dropped` are annotations
    without a look of their own, which each program draws differently.
    """

    width: float
    height: float
    trim: Area | None = None
    bleed: Area | None = None
    annotations: int = 0
    fields: int = 0
    dropped: int = 0

    @property
    def size(self) -> tuple[float, float]:
        """The trimmed size, or that of the page if it names none."""
        return (self.trim.width, self.trim.height) if self.trim else (self.width, self.height)

    @property
    def center(self) -> tuple[float, float]:
        trim = self.trim or Area(0, 0, self.width, self.height)
        return trim.x + trim.width / 2, trim.y + trim.height / 2

    @property
    def reach(self) -> Area:
        """The area that is meant to be printed: trim and bleed."""
        return self.bleed or Area(0, 0, self.width, self.height)


@dataclass(frozen=True, slots=True)
class PreparedArtwork:
    """Pages without hidden layers, annotations, turns and units of their own, and nothing else of the file."""

    pdf: bytes
    pages: tuple[ArtworkPage, ...]


def prepare_file(source: Path, target: Path, *, most_pages: int) -> tuple[ArtworkPage, ...]:
    """Prepares a file that is never whole in memory."""
    with source.open("rb") as file, target.open("wb") as out:
        return prepare_press_artwork(file, out, most_pages)


def prepare_press_artwork(file: BinaryIO, out: BinaryIO, most_pages: int = PAGES) -> tuple[ArtworkPage, ...]:
    """Raises ArtworkRefused with a sentence. Hostile files can take any memory and time: see `isolation.prepare`."""
    if b"%PDF-" not in file.read(1024):
        raise ArtworkRefused("artwork_not_pdf", "The file is not a PDF.")
    file.seek(0)
    try:
        with pikepdf.open(file) as source:
            if not 0 < (count := len(source.pages)) <= most_pages:
                raise ArtworkRefused(
                    "artwork_pages", f"The PDF has {count} pages; 1 to {most_pages} are allowed."
                )
            return _write_prepared(source, out)
    except pikepdf.PasswordError as error:
        raise ArtworkRefused(
            "artwork_password", "The PDF has a password. Export it again without one."
        ) from error
    except (pikepdf.PdfError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        if isinstance(error, ArtworkRefused):
            raise
        raise ArtworkRefused("artwork_damaged", "The PDF is damaged. Export it again.") from error


def prepare_in_folder(folder: Path, most_pages: int) -> dict[str, Any]:
    """A task of printing.bounded: `artwork` becomes `prepared`."""
    try:
        pages = prepare_file(folder / "artwork", folder / "prepared", most_pages=most_pages)
    except ArtworkRefused as error:
        return {"code": error.code, "message": str(error)}
    return {"pages": [asdict(page) for page in pages]}


def page_from(record: dict[str, Any]) -> ArtworkPage:
    boxes = {key: Area(**record[key]) for key in ("trim", "bleed") if record[key]}
    return ArtworkPage(**{**record, **boxes})


def place_artwork(prepared: bytes, page: ArtworkPage, number: int, width: float, height: float) -> bytes:
    """A PDF of this size in mm that shows page `number`, from 0, at 1:1, its trim in the middle."""
    with pikepdf.open(BytesIO(prepared)) as source, pikepdf.new() as output:
        output.pages.append(source.pages[number])
        x, y = page.center
        left, top = (x - width / 2) / MM, (page.height - y + height / 2) / MM
        window = [left, top - height / MM, left + width / MM, top]
        output.pages[0].obj.MediaBox = pikepdf.Array([round(side, 4) for side in window])
        drop(output.pages[0].obj, "/CropBox", "/BleedBox", "/TrimBox")
        return save_pdf(output, static_id=True)


def _write_prepared(source: pikepdf.Pdf, out: BinaryIO) -> tuple[ArtworkPage, ...]:
    # Layers of forms that have the resources of their page are named there.
    give_resources(source)
    remove_hidden_layers(source)
    counts_by_page = [_note_annotations(page.obj) for page in source.pages]
    form = source.Root.get("/AcroForm")
    if isinstance(form, pikepdf.Dictionary) and form.get("/NeedAppearances", False):
        source.generate_appearance_streams()
    source.flatten_annotations("screen")
    for page in source.pages:
        drop(page.obj, "/Annots")
    with pikepdf.new() as output:
        output.pages.extend(source.pages)
        name_opacities(output, give_resources(output))
        drop_unnamed(output, holders := give_resources(output))
        part_clips(output, holders)
        bound_tiles(output, holders)
        color_tiles(output, holders)
        fade_tiles(output, holders)
        set_gradients_again(output, holders)
        group_stencils(output, holders)
        unwrap_jpegs(output)
        resolve_masks(output)
        make_plain(output)
        open_groups(output)
        pages = []
        for page, counts in zip(output.pages, counts_by_page, strict=True):
            drop(page.obj, *set(page.obj.keys()) - _OF_PAGES - {"/Rotate", "/UserUnit"})
            pages.append(_make_upright(output, page, counts))
        _check_structure(output)
        output.save(out, static_id=True, stream_decode_level=pikepdf.StreamDecodeLevel.specialized)
        return tuple(pages)


def _check_structure(output: pikepdf.Pdf) -> None:
    try:
        if (depth := depth_of(output)) <= DEEP:
            return
        message = f"The PDF has objects that lie {depth:,} deep in each other; allowed: {DEEP}. Export it more simply."
    except LongName:
        message = f"The PDF has a name of more than {NAME} characters. Export it more simply."
    raise ArtworkRefused("artwork_too_complex", message)


def _note_annotations(page: Any) -> dict[str, int]:
    """Counts the annotations; those that nothing shows are removed."""
    counts = {"annotations": 0, "fields": 0, "dropped": 0}
    for annotation in page.get("/Annots", pikepdf.Array()):
        kind = str(annotation.get("/Subtype"))
        if kind in _UNSEEN or int(annotation.get("/F", 0)) & (HIDDEN | NO_VIEW):
            continue
        is_drawn = isinstance(annotation.get("/AP"), pikepdf.Dictionary) and "/N" in annotation.AP
        if kind == "/Widget":
            counts["fields"] += is_drawn or "/V" in annotation
        else:
            counts["annotations" if is_drawn else "dropped"] += 1
    return counts


def _make_upright(pdf: pikepdf.Pdf, page: pikepdf.Page, counts: dict[str, int]) -> ArtworkPage:
    """Turns the page and scales it by its unit, so that its boxes are points from 0, 0."""
    sheet = _read_box(page.mediabox)
    turn = int(page.obj.get("/Rotate", 0)) % 360
    unit = float(page.obj.get("/UserUnit", 1))
    if turn % 90 or not 0 < unit < math.inf or min(sheet[2] - sheet[0], sheet[3] - sheet[1]) <= 0:
        raise ArtworkRefused("artwork_damaged", "A page of the PDF has no usable size.")
    matrix = _build_matrix(sheet, turn, unit)
    boxes = {
        key: _read_box(page.obj[key]) for key in ("/TrimBox", "/BleedBox", "/CropBox") if key in page.obj
    }
    page_boxes = {key: _transform_box(matrix, _limit_box(box, sheet)) for key, box in boxes.items()}
    sheet_box = _transform_box(matrix, sheet)
    if turn or unit != 1 or sheet[:2] != (0.0, 0.0):
        _wrap_content(pdf, page, sheet, matrix)
    drop(page.obj, "/Rotate", "/UserUnit", "/CropBox", "/BleedBox", "/TrimBox")
    page.obj.MediaBox = pikepdf.Array([round(side, 4) for side in sheet_box])
    height = sheet_box[3] * MM
    trim = _in_mm(page_boxes.get("/TrimBox"), sheet_box, height) or _in_mm(
        page_boxes.get("/CropBox"), sheet_box, height
    )
    bleed = _in_mm(page_boxes.get("/BleedBox"), sheet_box, height)
    return ArtworkPage(sheet_box[2] * MM, height, trim, None if bleed == trim else bleed, **counts)


Box = tuple[float, float, float, float]


def _read_box(array: Any) -> Box:
    left, bottom, right, top = (float(side) for side in array)
    if not all(map(math.isfinite, (left, bottom, right, top))):
        raise ArtworkRefused("artwork_damaged", "A page of the PDF has no usable size.")
    return min(left, right), min(bottom, top), max(left, right), max(bottom, top)


def _limit_box(box: Box, sheet: Box) -> Box:
    left, bottom = max(box[0], sheet[0]), max(box[1], sheet[1])
    return left, bottom, max(left, min(box[2], sheet[2])), max(bottom, min(box[3], sheet[3]))


def _build_matrix(sheet: Box, turn: int, unit: float) -> Matrix:
    """Maps the coordinates of the page to those of the turned page, which begins at 0, 0."""
    left, bottom, right, top = (unit * side for side in sheet)
    return {
        0: (unit, 0.0, 0.0, unit, -left, -bottom),
        90: (0.0, -unit, unit, 0.0, -bottom, right),
        180: (-unit, 0.0, 0.0, -unit, right, top),
        270: (0.0, unit, -unit, 0.0, top, -left),
    }[turn]


def _transform_box(m: Matrix, box: Box) -> Box:
    points = [(box[0], box[1]), (box[2], box[3])]
    across, down = zip(
        *((m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]) for x, y in points), strict=True
    )
    return min(across), min(down), max(across), max(down)


def _in_mm(box: Box | None, sheet_box: Box, height: float) -> Area | None:
    """A box in mm from above; None without one, and for one as large as the page, which programs write unasked."""
    if box is None or all(abs(side - edge) * MM < SAME_MM for side, edge in zip(box, sheet_box, strict=True)):
        return None
    return Area(box[0] * MM, height - box[3] * MM, (box[2] - box[0]) * MM, (box[3] - box[1]) * MM)


def _wrap_content(pdf: pikepdf.Pdf, page: pikepdf.Page, sheet: Box, matrix: Matrix) -> None:
    """Draws the content as a form: patterns follow the matrix of a form, but not that of a content stream."""
    page.contents_coalesce()
    content = page.obj.Contents.read_bytes() if "/Contents" in page.obj else b""
    form = pikepdf.Stream(
        pdf,
        content,
        Type=pikepdf.Name.XObject,
        Subtype=pikepdf.Name.Form,
        BBox=pikepdf.Array(list(sheet)),
        Matrix=pikepdf.Array([round(number, 6) for number in matrix]),
        Resources=page.obj.get("/Resources", pikepdf.Dictionary()),
    )
    if "/Group" in page.obj:
        form.Group = page.obj.Group
    page.obj.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Page=pdf.make_indirect(form)))
    page.obj.Contents = pdf.make_stream(b"/Page Do")
