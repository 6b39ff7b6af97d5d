import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stores.typesetting.errors import Problem, RenderingFailed, TemplateInvalid, ValuesInvalid, pointer
from stores.typesetting.fonts import FontSet
from stores.typesetting.jobs import SheetBuilder
from stores.typesetting.print_boxes import add_bleed_boxes
from stores.typesetting.template import Template
from stores.typesetting.workdir import WorkDir, current_workdir
from stores.typesetting.workers import shared_workers

DPI = 144
SECONDS = 10.0
PAGE_PIXELS = 16_000_000
# Drawing the PNGs takes longest; for each further this many pages an idle worker is added.
PAGES_OF_A_WORKER = 3
SLUG_MM = 8.0
MARK_LETTERS = 24
MARK_FAMILY = "Lato"


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof for the customer: a PDF, a PNG of each page, and warnings about the print quality."""

    pdf: bytes
    pages: tuple[bytes, ...]
    messages: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class PrintFile:
    """The print-ready PDF of an order, and warnings about the print quality."""

    pdf: bytes
    messages: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page's PNG without the boxes that cannot be printed, and their problems."""

    png: bytes
    problems: tuple[Problem, ...]


def render_proof(
    template: Template,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    mark: str | None = "PROOF",
    *,
    seconds: float = SECONDS,
) -> Proof:
    """Render the trimmed pages under a light mark; the same input gives the same bytes.

    `values` come from resolve_values; `images` maps an Image field's name to its uploaded PNG or JPEG.
    Raises ValuesInvalid naming each field that cannot be printed, RenderingFailed or RenderingBusy.
    """
    builder = SheetBuilder(template, images or {}, fonts or FontSet.shipped(), proof=True)
    shown_mark = (mark or "")[:MARK_LETTERS] or None
    families = builder.fonts.chain(MARK_FAMILY, shown_mark or "")[0]
    parts = _render(builder, values, {"mark": shown_mark, "mark-fonts": families, "slug": 0}, seconds)
    return Proof(parts[0], tuple(parts[1:]), tuple(builder.sheet.messages))


def render_page(
    template: Template,
    number: int,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    *,
    pixels: int,
    with_bleed: bool = False,
    seconds: float = SECONDS,
) -> PagePicture:
    """Draw one page as it is trimmed, or with its bleed, `pixels` wide, for the template designer.

    Boxes that cannot be printed are left out and reported, where render_proof raises ValuesInvalid.
    """
    page = template.pages[number].with_bleed() if with_bleed else template.pages[number]
    pixels = min(pixels, int((PAGE_PIXELS * page.width / page.height) ** 0.5))
    builder = SheetBuilder(
        replace(template, pages=(page,)), images or {}, fonts or FontSet.shipped(), proof=True
    )
    job = {"mark": None, "slug": 0, "ppi": pixels / (page.width / 25.4), "page-only": True}
    workdir = current_workdir()
    artwork = workdir.hold_template(template)
    deadline = time.monotonic() + seconds
    try:
        sheet = builder.build(values, artwork)
        problems = [*sheet.problems, *sheet.messages]
        try:
            [picture] = _render_in_parallel(builder, workdir, job, deadline)
        except ValuesInvalid as error:
            problems += error.problems
            [picture] = _render_in_parallel(builder, workdir, {**job, "reporting": True}, deadline)
    finally:
        workdir.release_template(template)
    return PagePicture(picture, tuple(problems))


def render_print(
    template: Template,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    *,
    mark: str | None = None,
    seconds: float = 6 * SECONDS,
) -> PrintFile:
    """Render for the press: bleed, crop marks, TrimBox and BleedBox, pictures as they were sent.

    No mark but one that says that it is not to be printed.
    """
    builder = SheetBuilder(template, images or {}, fonts or FontSet.shipped(), proof=False)
    families = builder.fonts.chain(MARK_FAMILY, mark or "")[0]
    parts = _render(builder, values, {"mark": mark, "mark-fonts": families, "slug": SLUG_MM}, seconds)
    return PrintFile(add_bleed_boxes(parts[0], SLUG_MM), tuple(builder.sheet.messages))


def render_packing_slips(
    slips: Sequence[Mapping[str, Any]], *, timestamp: int, seconds: float = SECONDS
) -> bytes:
    """Render packing_slip.typ, a fixed layout, with these texts as data; raises RenderingFailed or RenderingBusy."""
    return _render_fixed_layout("packing slip", slips, timestamp, seconds)


def render_eddm_papers(sheets: Mapping[str, Any], *, timestamp: int, seconds: float = 6 * SECONDS) -> bytes:
    """Render papers.typ of delivery.papers with these sheets as data; thousands of facing slips take a while."""
    return _render_fixed_layout("EDDM papers", sheets, timestamp, seconds)


def _render_fixed_layout(layout: str, data: Any, timestamp: int, seconds: float) -> bytes:
    deadline = time.monotonic() + seconds
    workdir = current_workdir()
    setting = {
        "layout": layout,
        "timestamp": timestamp,
        "workdir": str(workdir.root),
        "root": str(workdir.root),
        "fonts": workdir.font_folder(FontSet.shipped()),
        "ppi": DPI,
        "outputs": [("pdf", 0)],
    }
    with shared_workers.lend(deadline, 0) as [worker]:
        worker.send(setting, [json.dumps(data).encode()], deadline)
        header, parts = worker.receive(deadline)
    if not header["ok"]:
        raise RenderingFailed(f"The typesetter rejected the {layout}: {header['message']}")
    return parts[0]


def try_template(template: Template, fonts: FontSet | None = None, *, seconds: float = SECONDS) -> None:
    """Render the template without values, as a check before it is saved; raise TemplateInvalid if that fails."""
    try:
        render_print(template, {}, fonts=fonts, seconds=seconds)
        render_proof(template, {}, fonts=fonts, seconds=seconds)
    except (RenderingFailed, ValuesInvalid) as error:
        raise TemplateInvalid(
            [Problem("", "not_renderable", f"The template can't be rendered: {error}")]
        ) from error


def _render(
    builder: SheetBuilder, values: Mapping[str, str], job: dict[str, Any], seconds: float
) -> list[bytes]:
    deadline = time.monotonic() + seconds
    workdir = current_workdir()
    artwork = workdir.hold_template(builder.template)
    try:
        sheet = builder.build(values, artwork)
        if sheet.problems:
            raise ValuesInvalid(sheet.problems)
        return _render_in_parallel(builder, workdir, job, deadline)
    finally:
        workdir.release_template(builder.template)


def _render_in_parallel(
    builder: SheetBuilder, workdir: WorkDir, job: dict[str, Any], deadline: float
) -> list[bytes]:
    """Let the first worker make the PDF, and all workers together the PNGs of the pages."""
    sheet = builder.sheet
    helpers = 0 if job["slug"] else (len(sheet.pages) - 1) // PAGES_OF_A_WORKER
    with shared_workers.lend(deadline, helpers) as workers:
        share = math.ceil(len(sheet.pages) / len(workers))
        roots: list[Path] = []
        try:
            for number, worker in enumerate(workers):
                root, paths = workdir.lay_out_job(worker.slot, builder.template, sheet.pictures)
                roots.append(root)
                pages = sheet.pages[number * share : (number + 1) * share]
                jobs = [_job(pages, job, paths)]
                outputs = [("png", 0)] if not job["slug"] else []
                if number == 0 and "page-only" not in job:
                    whole = pages is sheet.pages or len(workers) == 1
                    jobs += [] if whole else [_job(sheet.pages, job, paths)]
                    outputs = [("pdf", len(jobs) - 1), *outputs]
                setting = _setting(builder, workdir, job.get("ppi"))
                worker.send({**setting, "root": str(root), "outputs": outputs}, jobs, deadline)
            answers = [worker.receive(deadline) for worker in workers]
        finally:
            for root in roots:
                workdir.clear_job(root)
    for header, _ in answers:
        if "unfit" in header:
            raise ValuesInvalid(_unfit_problems(sheet.fields, header["unfit"]))
        if not header["ok"]:
            raise RenderingFailed(f"The typesetter rejected the template: {header['message']}")
    return [part for _, parts in answers for part in parts]


def _setting(builder: SheetBuilder, workdir: WorkDir, ppi: float | None) -> dict[str, Any]:
    largest = max(page.width * page.height for page in builder.template.pages) / 25.4**2
    return {
        "layout": "pages",
        "timestamp": 0,
        "workdir": str(workdir.root),
        "fonts": workdir.font_folder(builder.fonts),
        # A banner at 144 dpi would take a gigabyte, so the resolution is reduced.
        "ppi": ppi or min(DPI, (PAGE_PIXELS / largest) ** 0.5),
    }


def _job(pages: Sequence[dict[str, Any]], job: Mapping[str, Any], paths: Mapping[str, str]) -> bytes:
    for item in (item for page in pages for item in page["boxes"] if "picture" in item):
        item["file"] = paths[item["picture"]]
    title = "Print" if job["slug"] or not job["mark"] else "Proof"
    whole = {"reporting": False, **job, "title": title, "pages": pages}
    return json.dumps(whole).encode()


def _unfit_problems(fields: Sequence[str], unfit: Sequence[int]) -> list[Problem]:
    names = dict.fromkeys(fields[number] for number in unfit)
    message = "does not fit its box, even at the smallest size."
    return [
        Problem(pointer(*([name] if name else [])), "does_not_fit", f"{name or 'A fixed text'} {message}")
        for name in names
    ]
