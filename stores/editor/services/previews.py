"""Renders drafts of templates: pages with sample data, proofs, fonts, colors and fitted backgrounds."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw

from fulfillment.core.errors import Fault, Invalid, NotFound
from printing.bounded import TaskFailed
from printing.pictures import open_undecoded
from printing.preflight import Finding, Limits, PreflightInput, preflight
from printing.press import isolation
from printing.press.pictures import reshaped_size
from printing.typesetting import (
    Artwork,
    FontSet,
    InputProblem,
    Press,
    Template,
    TemplateInvalid,
    ValuesInvalid,
    parse_draft,
    render_page,
    render_print,
    render_proof,
    resolve_values,
)
from printing.typesetting.artwork import ARTWORK_PIXELS
from printing.typesetting.parsing import PROPORTION_TOLERANCE
from stores.editor.selectors import Draft, EditorContext, read_pictures
from stores.presets.selectors import profile_file
from stores.templates.selectors import resolve_samples, typesetting_errors

RESHAPABLE = {"image/png": "PNG", "image/jpeg": "JPEG"}
BOX = re.compile(r"/Pages/(\d+)/Boxes/(\d+)(?:/|\Z)")
SAMPLE = "/Samples"
PRINT_SECONDS = 20.0
SPECIMEN_MM = (110, 20)
# Far above any page that a template may have.
PAGE_LIMIT_MM = 100_000


def size_with_bleed(page: Mapping[str, Any]) -> tuple[float, float] | None:
    """Width and height of the page in mm; None while its size is wrong."""
    try:
        bleed = 2 * float(page.get("BleedMM") or 0)
        width, height = float(page["WidthMM"]) + bleed, float(page["HeightMM"]) + bleed
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return (width, height) if 0 < width < PAGE_LIMIT_MM and 0 < height < PAGE_LIMIT_MM else None


def has_shape_of(artwork: Artwork, page: Mapping[str, Any]) -> bool:
    """Applies the check of templates. A PDF passes, because only rendering can measure it."""
    if (size := size_with_bleed(page)) is None:
        return False
    proportion = size[0] / size[1]
    return not artwork.height or abs(artwork.width / artwork.height / proportion - 1) <= PROPORTION_TOLERANCE


def explain_shape(artwork: Artwork, page: Mapping[str, Any]) -> str:
    """Why the picture is no background of the page; empty if the page has no size."""
    if (size := size_with_bleed(page)) is None:
        return ""
    return (
        f"{artwork.name} is {artwork.width:g} by {artwork.height:g}; the page with its bleed is"
        f" {size[0]:g} by {size[1]:g} mm, which is another shape."
    )


def reshape_background(*, artwork: Artwork, page: Mapping[str, Any], crop: bool) -> bytes:
    """The picture in the page's shape with its bleed: its center, or all of it between white margins."""
    kind = RESHAPABLE.get(artwork.media_type)
    size = size_with_bleed(page)
    if kind is None or size is None:
        message = "Only a PNG or JPEG can be cropped or fitted, on a page that has a size."
        raise Invalid.at("/Artwork", "not_reshapable", message)
    proportion = size[0] / size[1]
    with open_undecoded(artwork.data, [kind]) as picture:
        width, height = reshaped_size(picture.size, proportion, crop=crop)
    if width * height > ARTWORK_PIXELS:
        message = (
            f"With margins the picture would have {width:,} × {height:,} pixels; at most {ARTWORK_PIXELS:,} are "  # noqa: RUF001 - a multiplication sign is meant
            "allowed. Crop it, or upload a smaller one."
        )
        raise Invalid.at("/Artwork", "too_many_pixels", message)
    try:
        return isolation.reshape(artwork.data, (width, height), proportion, crop=crop)
    except (OSError, SyntaxError, ValueError, TaskFailed) as error:
        raise Invalid.at("/Artwork", "unreadable_artwork", "The picture cannot be read.") from error


@dataclass(frozen=True, slots=True)
class PagePreview:
    """The PNG of a page without its faulty parts, all faults of the draft, and the findings of preflight."""

    png: bytes | None
    faults: list[Fault]
    findings: list[Finding] = field(default_factory=list)


def preview_page(
    *,
    editor: EditorContext,
    draft: Draft,
    number: int,
    samples: Mapping[str, str],
    pixels: int,
    hidden: Collection[int] = (),
    with_bleed: bool = False,
) -> PagePreview:
    """Faults of the pages point into the template, those of the sample data into /Samples.

    `hidden` boxes of the page are checked but not drawn.
    """
    artwork, gallery, faults = read_pictures(editor, draft)
    template, problems, left_out = _parse_valid_boxes(
        editor, draft, artwork, gallery, {(number, index) for index in hidden}
    )
    faults += [_make_fault(problem) for problem in problems]
    values, refused = resolve_samples(editor.fields, samples, gallery)
    faults += [_make_fault(problem, SAMPLE) for problem in refused]
    if template is None or number >= len(template.pages):
        return PagePreview(None, faults)
    with typesetting_errors():
        images = _sample_images(editor, values, gallery)
        picture = render_page(
            template, number, values, images, editor.fonts, pixels=pixels, with_bleed=with_bleed
        )
    pointers = {fault.pointer for fault in faults}
    drawn = [_make_fault(problem, SAMPLE) for problem in picture.problems]
    faults += [fault for fault in drawn if fault.pointer not in pointers]
    press = Press(editor.rules, profile_file(editor.rules.profile))
    # Findings about placeholder pictures say nothing about the customer's pictures.
    job = PreflightInput(
        template, values, {}, editor.fonts, picture.texts, editor.product, only=[number], press=press
    )
    places = [
        index
        for index in range(len(draft.pages[number].get("Boxes") or ()))
        if (number, index) not in left_out
    ]
    return PagePreview(picture.png, faults, _list_findings(job, editor, places))


def _list_findings(job: PreflightInput, editor: EditorContext, places: Sequence[int]) -> list[Finding]:
    """`places` are those that the boxes of the page have in the draft."""
    findings = preflight(job, Limits.of(editor.rules))
    return [
        finding if finding.box is None else replace(finding, box=places[finding.box]) for finding in findings
    ]


def render_draft(
    *, editor: EditorContext, draft: Draft, samples: Mapping[str, str], mark: str | None
) -> bytes:
    """The PDF of the draft as it is: a proof under its mark or, without one, the file for the press."""
    artwork, gallery, faults = read_pictures(editor, draft)
    try:
        template = parse_draft(draft.pages, artwork, gallery, editor.fields, editor.fonts)
        values = resolve_values(editor.fields, samples, gallery)
    except (TemplateInvalid, ValuesInvalid) as error:
        root = SAMPLE if isinstance(error, ValuesInvalid) else ""
        faults += [_make_fault(problem, root) for problem in error.problems]
    if faults:
        raise Invalid("The template cannot be rendered as it is.", faults=faults)
    images = _sample_images(editor, values, gallery)
    with typesetting_errors():
        if mark is None:
            press = Press(editor.rules, profile_file(editor.rules.profile))
            return render_print(
                template, values, images, editor.fonts, press=press, seconds=PRINT_SECONDS
            ).pdf
        return render_proof(template, values, images, editor.fonts, mark).pdf


def _parse_valid_boxes(
    editor: EditorContext,
    draft: Draft,
    artwork: Mapping[str, Artwork],
    gallery: Mapping[str, Artwork],
    hidden: set[tuple[int, int]],
) -> tuple[Template | None, Sequence[InputProblem], set[tuple[int, int]]]:
    """The draft without hidden boxes and those something is wrong with; None if a page itself is at fault.

    The places of those boxes come last.
    """
    problems: Sequence[InputProblem] = ()
    try:
        template = parse_draft(draft.pages, artwork, gallery, editor.fields, editor.fonts)
        if not hidden:
            return template, problems, hidden
    except TemplateInvalid as error:
        problems = error.problems
    wrong = hidden | {(int(m[1]), int(m[2])) for problem in problems if (m := BOX.match(problem.pointer))}
    pages = [
        {
            **page,
            "Boxes": [b for index, b in enumerate(page.get("Boxes") or ()) if (number, index) not in wrong],
        }
        for number, page in enumerate(draft.pages)
        if isinstance(page, dict)
    ]
    for page in pages:
        background = artwork.get(page.get("Background") or "")
        # Drawn without a background that has another shape, so that the page keeps its own.
        if background is None or not has_shape_of(background, page):
            page.pop("Background", None)
    try:
        return parse_draft(pages, artwork, gallery, editor.fields, editor.fonts), problems, wrong
    except TemplateInvalid:
        return None, problems, wrong


def _sample_images(
    editor: EditorContext, values: Mapping[str, str], gallery: Mapping[str, Artwork]
) -> dict[str, bytes]:
    """A gray placeholder for an uploaded picture."""
    uploads = [field.field_name for field in editor.fields if field.sub_type == "Upload"]
    return {name: _make_placeholder() for name in uploads if values.get(name) and values[name] not in gallery}


@lru_cache(maxsize=256)
def draw_specimen(family: str, fonts: FontSet) -> bytes:
    """The name of a family set in its own letters, as a PNG."""
    width, height = SPECIMEN_MM
    name = {
        "Kind": "Text",
        "Text": family,
        "Font": family,
        "Size": 34,
        "MinimumSize": 8,
        "VerticalAlign": "middle",
    }
    page = {
        "WidthMM": width,
        "HeightMM": height,
        "Boxes": [{**name, "X": 2, "Y": 0, "Width": width - 4, "Height": height}],
    }
    return _draw_page(page, fonts, pixels=480)


@lru_cache(maxsize=4096)
def convert_inks(inks: tuple[float, float, float, float]) -> str:
    """The sRGB color, as #rrggbb, in which pictures and proofs show these percentages of C, M, Y and K."""
    ground = {"Kind": "Text", "Text": ".", "Size": 3, "X": 0, "Y": 0, "Width": 20, "Height": 20}
    color = dict(zip("CMYK", inks, strict=True))
    page = {"WidthMM": 20, "HeightMM": 20, "Boxes": [{**ground, "Color": color, "Background": color}]}
    with Image.open(BytesIO(_draw_page(page, FontSet.shipped(), pixels=8))) as picture:
        red, green, blue = picture.convert("RGB").getpixel((4, 6))  # type: ignore[misc]  # of an RGB picture
    return f"#{red:02x}{green:02x}{blue:02x}"


def _draw_page(page: Mapping[str, Any], fonts: FontSet, *, pixels: int) -> bytes:
    try:
        template = parse_draft([page], {}, {}, (), fonts)
    except TemplateInvalid as error:
        raise NotFound(str(error)) from error
    with typesetting_errors():
        return render_page(template, 0, {}, {}, fonts, pixels=pixels).png


@cache
def _make_placeholder() -> bytes:
    """Has a palette of two colors, which every preview decodes ten times faster than 24 bits."""
    picture = Image.new("P", (1200, 900), 0)
    picture.putpalette([0xD5, 0xDA, 0xD7, 0xAA, 0xB4, 0xAE])
    draw = ImageDraw.Draw(picture)
    draw.line([(0, 0), (1200, 900)], 1, 6)
    draw.line([(0, 900), (1200, 0)], 1, 6)
    out = BytesIO()
    picture.save(out, "PNG", bits=1)
    return out.getvalue()


def _make_fault(problem: InputProblem, root: str = "") -> Fault:
    return Fault(f"{root}{problem.pointer}", problem.code, problem.message)
