import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stores.typesetting.errors import Problem, RenderingFailed, TemplateInvalid, ValuesInvalid, pointer
from stores.typesetting.fonts import FontSet
from stores.typesetting.jobs import Sheet, SheetBuilder
from stores.typesetting.print_boxes import add_bleed_boxes
from stores.typesetting.template import Template
from stores.typesetting.workers import SECONDS, shared_workers
from stores.typesetting.workshop import Workshop, current_workshop

DPI = 144
PAGE_PIXELS = 16_000_000
SLUG_MM = 8.0
MARK_LETTERS = 24
MARK_FAMILY = "Lato"


@dataclass(frozen=True, slots=True)
class Proof:
    """What a customer is shown: a PDF, a PNG of each page, and messages about what may print badly."""

    pdf: bytes
    pages: tuple[bytes, ...]
    messages: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class PrintFile:
    """The print-ready PDF of an order, and messages about what may print badly."""

    pdf: bytes
    messages: tuple[Problem, ...]


def render_proof(
    template: Template,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    mark: str | None = "PROOF",
    *,
    seconds: float = SECONDS,
) -> Proof:
    """Render pages as they will be trimmed, under a light mark; the same input gives the same bytes.

    `values` come from resolve_values; `images` maps an Image field's name to its uploaded PNG or JPEG.
    Raises ValuesInvalid naming each field that cannot be printed, RenderingFailed or RenderingBusy.
    """
    builder = SheetBuilder(template, images or {}, fonts or FontSet.shipped(), proof=True)
    parts = _render(builder, values, {"mark": (mark or "")[:MARK_LETTERS] or None, "slug": 0}, seconds)
    return Proof(parts[0], tuple(parts[1:]), tuple(builder.sheet.messages))


def render_print(
    template: Template,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    *,
    seconds: float = 6 * SECONDS,
) -> PrintFile:
    """Render for the press: bleed, crop marks, TrimBox and BleedBox, pictures as they were sent, no mark."""
    builder = SheetBuilder(template, images or {}, fonts or FontSet.shipped(), proof=False)
    parts = _render(builder, values, {"mark": None, "slug": SLUG_MM}, seconds)
    return PrintFile(add_bleed_boxes(parts[0], SLUG_MM), tuple(builder.sheet.messages))


def try_template(template: Template, fonts: FontSet | None = None, *, seconds: float = SECONDS) -> None:
    """Render the template without values, as it must be before it is saved; raise TemplateInvalid if it can't be."""
    try:
        render_print(template, {}, fonts=fonts, seconds=seconds)
        render_proof(template, {}, fonts=fonts, seconds=seconds)
    except (RenderingFailed, ValuesInvalid) as error:
        raise TemplateInvalid([Problem("", "not_renderable", f"The template can't be rendered: {error}")]) from error


def _render(builder: SheetBuilder, values: Mapping[str, str], job: dict[str, Any], seconds: float) -> list[bytes]:
    workshop = current_workshop()
    artwork = workshop.hold_template(builder.template)
    try:
        sheet = builder.build(values, artwork)
        if sheet.problems:
            raise ValuesInvalid(sheet.problems)
        written: list[str] = []

        def prepare(slot: int) -> tuple[Mapping[str, Any], bytes]:
            paths = workshop.write_pictures(slot, sheet.pictures)
            written[:] = paths.values()
            return _request(builder, workshop, job), _job(sheet, job, paths)

        try:
            header, parts = shared_workers.run(prepare, seconds)
        finally:
            workshop.clear_pictures(written)
    finally:
        workshop.release_template(builder.template)
    if header["ok"]:
        return parts
    if "unfit" in header:
        raise ValuesInvalid(_unfit_problems(sheet.fields, header["unfit"]))
    raise RenderingFailed(f"The typesetter refused the template: {header['message']}")


def _request(builder: SheetBuilder, workshop: Workshop, job: Mapping[str, Any]) -> dict[str, Any]:
    pages = builder.template.pages
    largest = max(page.width * page.height for page in pages) / 25.4**2
    return {
        "root": str(workshop.root),
        "fonts": workshop.font_folder(builder.fonts),
        "formats": ["pdf"] if job["slug"] else ["pdf", "png"],
        # A banner at 144 dpi would take a gigabyte; it is shown smaller.
        "ppi": min(DPI, (PAGE_PIXELS / largest) ** 0.5),
    }


def _job(sheet: Sheet, job: Mapping[str, Any], paths: Mapping[str, str]) -> bytes:
    for item in (item for page in sheet.pages for item in page["boxes"] if "picture" in item):
        item["file"] = paths[item["picture"]]
    whole = {**job, "title": "Proof" if job["mark"] else "Print", "reporting": False, "pages": sheet.pages}
    return json.dumps({**whole, "mark-fonts": [MARK_FAMILY]}).encode()


def _unfit_problems(fields: Sequence[str], unfit: Sequence[int]) -> list[Problem]:
    names = dict.fromkeys(fields[number] for number in unfit)
    message = "does not fit its place, even at the smallest size."
    return [Problem(pointer(*([name] if name else [])), "does_not_fit", f"{name or 'A fixed text'} {message}") for name in names]
