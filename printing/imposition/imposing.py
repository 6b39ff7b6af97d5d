"""Renders a planned sheet as PDF/X-4: pieces with bleed, cut and register marks, a color bar, and job numbers in the
slug line and beside each piece.

The same plan and files always give the same bytes. Pages are placed as they are: no color and no font changes.
"""

import io
from collections.abc import Mapping, Sequence

import pikepdf

from printing.imposition.marks import (
    BLACK,
    CROSS_MM,
    PAPER,
    POINTS,
    bar_code,
    bar_code_width,
    bar_width,
    box,
    color_bar,
    cross,
    fold,
    registration,
    save_for_press,
    spot_inks,
    text_path,
    text_width,
)
from printing.imposition.sheets import MARK_OFFSET_MM, Place, PlannedSheet, PressSheet, Slug, ship_by_words

SIZE_TOLERANCE_MM = 0.5
MARK_WIDTH = 0.25
# The number beside a piece: its type, the height of its field, and its distance from the trim.
NUMBER_SIZE, NUMBER_MM, NUMBER_CLEAR_MM = 3.5, 1.4, 1.0
# The bar code in the slug line.
CODE_MODULE_MM, CODE_LEAST_MM = 0.25, 4.0
LABEL_LENGTH = 100
NO_SLUG = Slug()
SLUG_SIZES = (6.0, 5.0, 4.0, 3.0)
TURNS = {0: (1, 0, 0, 1), 90: (0, 1, -1, 0), 180: (-1, 0, 0, -1), 270: (0, -1, 1, 0)}


def impose_sheet(
    planned: PlannedSheet,
    files: Mapping[str, bytes],
    labels: Mapping[str, str] | None = None,
    *,
    slug: Slug = NO_SLUG,
) -> bytes:
    """`files` are print files by job number, `labels` say who or what a job is for, and `slug` is about all of them.

    Raises ValueError naming the job whose file does not fit its place.
    """
    pdf = pikepdf.new()
    forms = _Forms(pdf, planned, files)
    for side, places in (("FRONT", planned.fronts), ("BACK", planned.backs)):
        if places:
            _add_side(pdf, planned, side, places, forms, labels or {}, slug)
    if forms.intents is not None:
        pdf.Root.OutputIntents = forms.intents
    return save_for_press(pdf, title=f"Sheet {planned.number} of {planned.of}: {', '.join(planned.counts)}")


class _Forms:
    """The pages of jobs as form XObjects, embedded once each."""

    def __init__(self, pdf: pikepdf.Pdf, planned: PlannedSheet, files: Mapping[str, bytes]) -> None:
        self._pdf, self._planned, self._files = pdf, planned, files
        self._sources: dict[str, pikepdf.Pdf] = {}
        self._form_by_key: dict[tuple[str, int], tuple[pikepdf.Object, list[float]]] = {}
        self.intents: pikepdf.Object | None = None

    def form(self, place: Place) -> tuple[pikepdf.Object, list[float]]:
        """The form of a page, and its trim box in points."""
        key = (place.job_number, place.page)
        if key not in self._form_by_key:
            self._form_by_key[key] = self._make_form(place)
        return self._form_by_key[key]

    def _make_form(self, place: Place) -> tuple[pikepdf.Object, list[float]]:
        source = self._open_file(place.job_number)
        if place.page > len(source.pages):
            raise ValueError(f"{place.job_number}: the print file has no page {place.page}.")
        page = source.pages[place.page - 1]
        if int(page.obj.get("/Rotate", 0)) % 360 or float(page.obj.get("/UserUnit", 1)) != 1:
            raise ValueError(f"{place.job_number}: page {place.page} is rotated or scaled.")
        trim = [float(edge) for edge in page.trimbox]
        self._check_size(place, trim)
        form = self._pdf.copy_foreign(page.as_form_xobject())
        bleed = self._planned.bleed_mm * POINTS
        form.BBox = [trim[0] - bleed, trim[1] - bleed, trim[2] + bleed, trim[3] + bleed]
        if self.intents is None and "/OutputIntents" in source.Root:
            self.intents = self._pdf.copy_foreign(source.make_indirect(source.Root.OutputIntents))
        return form, trim

    def _open_file(self, job_number: str) -> pikepdf.Pdf:
        if job_number not in self._sources:
            if job_number not in self._files:
                raise ValueError(f"{job_number}: there is no print file.")
            try:
                self._sources[job_number] = pikepdf.open(io.BytesIO(self._files[job_number]))
            except pikepdf.PdfError as error:
                raise ValueError(f"{job_number}: the print file is not a PDF that can be read.") from error
        return self._sources[job_number]

    @staticmethod
    def _check_size(place: Place, trim: Sequence[float]) -> None:
        width, height = place.width_mm, place.height_mm
        if place.rotation % 180:
            width, height = height, width
        size = ((trim[2] - trim[0]) / POINTS, (trim[3] - trim[1]) / POINTS)
        if max(abs(size[0] - width), abs(size[1] - height)) > SIZE_TOLERANCE_MM:
            raise ValueError(
                f"{place.job_number}: page {place.page} is {size[0]:.1f} by {size[1]:.1f} mm; "
                f"its place is {width:g} by {height:g} mm."
            )


def _add_side(
    pdf: pikepdf.Pdf,
    planned: PlannedSheet,
    side: str,
    places: Sequence[Place],
    forms: _Forms,
    labels: Mapping[str, str],
    slug: Slug,
) -> None:
    sheet = planned.sheet
    size = (sheet.width_mm * POINTS, sheet.height_mm * POINTS)
    page = pdf.add_blank_page(page_size=size)
    names: dict[tuple[str, int], str] = {}
    operators, resources = [], pikepdf.Dictionary()
    for place in places:
        key = (place.job_number, place.page)
        form, trim = forms.form(place)
        if key not in names:
            names[key] = f"/J{len(names) + 1}"
            resources[names[key]] = form
        operators.append(f"q {_build_matrix(place, trim)} cm {names[key]} Do Q")
    operators += [_draw_number(place, sheet, labels.get(place.job_number, "")) for place in places]
    operators.append(_draw_marks(planned, is_back=side == "BACK"))
    spots = spot_inks(pdf)
    operators.append(_draw_slug(planned, side, slug, list(spots)))
    page.obj.Resources = pikepdf.Dictionary(
        XObject=resources, ColorSpace=pikepdf.Dictionary({**spots, "/All": registration(pdf)})
    )
    page.obj.Contents = pdf.make_stream("\n".join(operators).encode())
    page.obj.TrimBox = _surround_pieces(places, 0)
    page.obj.BleedBox = _surround_pieces(places, planned.bleed_mm)


def _surround_pieces(places: Sequence[Place], distance: float) -> pikepdf.Array:
    """The box around all pieces, with a distance, in points."""
    edges = [
        min(place.x_mm for place in places) - distance,
        min(place.y_mm for place in places) - distance,
        max(place.x_mm + place.width_mm for place in places) + distance,
        max(place.y_mm + place.height_mm for place in places) + distance,
    ]
    return pikepdf.Array([round(edge * POINTS, 4) for edge in edges])


def _draw_number(place: Place, sheet: PressSheet, label: str) -> str:
    """The job's number below a piece, and as much of its label as fits, in the half of the gutter that is cut off
    with it."""
    height = sheet.gutter_mm / 2 - NUMBER_CLEAR_MM
    text = f"{place.job_number}  {label[:LABEL_LENGTH]}".strip()
    while (width := text_width(text, NUMBER_SIZE) / POINTS) > place.width_mm and text != place.job_number:
        text = text[:-1].rstrip()
    if height < NUMBER_MM or width > place.width_mm:
        return ""
    x, y = place.x_mm + (place.width_mm - width) / 2, place.y_mm - sheet.gutter_mm / 2 + 0.2
    words = text_path(text, NUMBER_SIZE, x * POINTS, (y + 0.3) * POINTS)
    return f"q {PAPER} {box(x - 0.5, y, width + 1, NUMBER_MM)} f {BLACK}\n{words}\nQ"


def _build_matrix(place: Place, trim: Sequence[float]) -> str:
    """The matrix that rotates the piece around its middle and moves its trim to its position."""
    a, b, c, d = TURNS[place.rotation]
    middle_x, middle_y = (trim[0] + trim[2]) / 2, (trim[1] + trim[3]) / 2
    x = (place.x_mm + place.width_mm / 2) * POINTS - (a * middle_x + c * middle_y)
    y = (place.y_mm + place.height_mm / 2) * POINTS - (b * middle_x + d * middle_y)
    return f"{a} {b} {c} {d} {x:.4f} {y:.4f}"


def _draw_marks(planned: PlannedSheet, *, is_back: bool) -> str:
    """Marks at each cut and fold, outside of all bleed; those of the back lie behind those of the front."""
    sheet, xs, ys = planned.sheet, planned.cut_xs, planned.cut_ys
    fold_xs, fold_ys = planned.folds
    if is_back and sheet.is_tumbled:
        ys, fold_ys = ([sheet.height_mm - y for y in places] for places in (ys, fold_ys))
    elif is_back:
        xs, fold_xs = ([sheet.width_mm - x for x in places] for places in (xs, fold_xs))
    gap = planned.bleed_mm + MARK_OFFSET_MM
    upright = ((min(ys) - gap, -sheet.mark_mm), (max(ys) + gap, sheet.mark_mm))
    level = ((min(xs) - gap, -sheet.mark_mm), (max(xs) + gap, sheet.mark_mm))
    lines = [(x, y, x, y + step) for x in xs for y, step in upright]
    lines += [(x, y, x + step, y) for y in ys for x, step in level]
    cut_lines = [
        f"{x1 * POINTS:.4f} {y1 * POINTS:.4f} m {x2 * POINTS:.4f} {y2 * POINTS:.4f} l S"
        for x1, y1, x2, y2 in lines
    ]
    folds = [fold(x, y, 0, step) for x in fold_xs for y, step in upright]
    folds += [fold(x, y, step, 0) for y in fold_ys for x, step in level]
    return "\n".join(["q /All CS 1 SCN", f"{MARK_WIDTH} w", *cut_lines, "Q", *folds, *_draw_crosses(planned)])


def _draw_crosses(planned: PlannedSheet) -> list[str]:
    """Register crosses at the middle of each side of the sheet, on the same spots of the paper on front and back."""
    sheet = planned.sheet
    if sheet.mark_mm + MARK_OFFSET_MM < CROSS_MM:
        return []
    half = CROSS_MM / 2
    left, low = sheet.margin_mm + half, sheet.bottom_mm + sheet.slug_mm + half
    right = sheet.width_mm - left
    high = sheet.height_mm - (low if sheet.is_tumbled and planned.prints_backs else left)
    folds_across, folds_up = planned.folds
    # Not of the paper, but of the room for pieces: between the cut marks of two rows.
    sides = [(x, y) for y in _avoid_folds(folds_up, (low + high) / 2) for x in (left, right)]
    ends = [(x, y) for x in _avoid_folds(folds_across, sheet.width_mm / 2) for y in (low, high)]
    return [cross(*point) for point in (*sides, *ends)]


def _avoid_folds(folds: Sequence[float], middle: float) -> list[float]:
    """The places of crosses: a pair, on the same spots of the paper on both sides, where a fold is between."""
    is_free = all(abs(position - middle) > CROSS_MM for position in folds)
    return [middle] if is_free else [middle - 1.5 * CROSS_MM, middle + 1.5 * CROSS_MM]


def _draw_slug(planned: PlannedSheet, side: str, slug: Slug, spots: Sequence[str]) -> str:
    """The slug line with all job numbers, in smaller type if there are many; then the bar code, and color bars to the
    end of the line."""
    sheet = planned.sheet
    if not sheet.slug_mm:
        return ""
    spots = spots if bar_width(spots) <= sheet.width_mm / 3 else ()
    end, bar = sheet.width_mm - sheet.margin_mm, bar_width(spots)
    code_x = _slug_code(sheet, slug.code, right=end - bar - 2)[1]
    size, lines = _slug_lines(planned, side, slug, width=(code_x - sheet.margin_mm - 2) * POINTS)
    x, top = sheet.margin_mm * POINTS, (sheet.bottom_mm + sheet.slug_mm) * POINTS
    paths = [text_path(line, size, x, top - (row + 1) * size * 1.25) for row, line in enumerate(lines)]
    longest = max(text_width(line, size) for line in lines) / POINTS
    times = 1 + max(0, int((code_x - 2 - sheet.margin_mm - longest) // bar))
    bar_x = end - times * bar
    drawn_code, _ = _slug_code(sheet, slug.code, right=bar_x - 2)
    bars = color_bar(bar_x, sheet.bottom_mm + 1, spots, times=times)
    return "\n".join(["q /All cs 1 scn", *paths, "Q", drawn_code, bars])


def _slug_lines(planned: PlannedSheet, side: str, slug: Slug, *, width: float) -> tuple[float, list[str]]:
    """The largest type in which the words fit, and their lines in it."""
    overs = f" + {planned.overs} OVERS" if planned.overs else ""
    sheets = f"{slug.code and slug.code + '   '}SHEET {planned.number}/{planned.of}"
    head = f"{sheets}   RUN {planned.run}{overs}   {_name_side(planned, side)}{ship_by_words(slug.ship_by)}"
    head += f"   {turn}" if (turn := _turn_of_pieces(planned)) else ""
    gripper = planned.sheet.gripper_mm
    head += f"   GRIPPER {gripper:g} MM AT THIS EDGE" if gripper else ""
    words = [f"{head}   ", *(f"{word} " for word in planned.preset.split()), "  "]
    words += [f"{job} x{count}  " for job, count in planned.counts.items()]
    for size in SLUG_SIZES:
        lines = _break_lines(words, size, width)
        if len(lines) * size * 1.25 <= planned.sheet.slug_mm * POINTS or size == SLUG_SIZES[-1]:
            break
    return size, lines


def _slug_code(sheet: PressSheet, code: str, *, right: float) -> tuple[str, float]:
    """The bar code, and where it begins; none where it would take a third of the line."""
    width = bar_code_width(code, CODE_MODULE_MM) if code else 0.0
    height = sheet.slug_mm - 1
    if not code or height < CODE_LEAST_MM or width > sheet.width_mm / 3:
        return "", right
    left = right - width
    return bar_code(code, left, sheet.bottom_mm + 0.5, module=CODE_MODULE_MM, height=height), left


def _name_side(planned: PlannedSheet, side: str) -> str:
    if planned.sheet.is_one_form and planned.prints_backs:
        return planned.sheet.turn.replace("_", " ").upper()
    return f"{side} (TUMBLE)" if planned.backs and planned.sheet.is_tumbled else side


def _turn_of_pieces(planned: PlannedSheet) -> str:
    """How the back of each piece lies to its front; empty for one side."""
    if not planned.prints_backs:
        return ""
    return "HEAD TO FOOT" if planned.is_head_to_foot else "HEAD TO HEAD"


def _break_lines(words: Sequence[str], size: float, width: float) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and text_width(lines[-1] + word.rstrip(), size) > width:
            lines.append("")
        lines[-1] += word
    return lines
