import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from printing.bounded import refusing_to_wait
from printing.stages import observe_renderer
from printing.typesetting.drawn_pages import drawn_pages, page_keys
from printing.typesetting.errors import (
    Problem,
    RenderingFailed,
    RenderingNested,
    TemplateInvalid,
    ValuesInvalid,
    pointer,
)
from printing.typesetting.fonts import FontSet
from printing.typesetting.ipc import SIZES
from printing.typesetting.jobs import RenderInput, SheetBuilder
from printing.typesetting.press import BUILT_IN_PRESS, Press
from printing.typesetting.sharing import SHARED_PAGES, Drawing
from printing.typesetting.template import Template
from printing.typesetting.workdir import WorkDir, current_workdir
from printing.typesetting.workers import Worker, shared_workers

DPI = 144
SECONDS = 10.0
PAGE_PIXELS = 16_000_000
PROOF_PIXELS = 30_000_000
MARK_LETTERS = 24
MARK_FAMILY = "Lato"
# What layout.typ draws for a screen: nothing outside of the trim.
SCREEN = {"print": False, "slug": 0, "marks": False, "slug-lines": []}


@dataclass(frozen=True, slots=True)
class SetText:
    """A text as it was set: `page` and `box` are places in the template, the size is in points, the rest in mm."""

    page: int
    box: int
    size: float
    width: float
    height: float


Meanwhile = Callable[[Sequence[SetText]], None]


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof for the customer: a PDF, a PNG of each page, and warnings about the print quality."""

    pdf: bytes
    pages: tuple[bytes, ...]
    messages: tuple[Problem, ...]
    texts: tuple[SetText, ...] = ()


@dataclass(frozen=True, slots=True)
class PrintFile:
    """The print-ready PDF of an order, and warnings about the print quality."""

    pdf: bytes
    messages: tuple[Problem, ...]
    texts: tuple[SetText, ...] = ()


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page's PNG without the boxes that cannot be printed, and their problems."""

    png: bytes
    problems: tuple[Problem, ...]
    texts: tuple[SetText, ...] = ()


def render_proof(
    template: Template,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    mark: str | None = "PROOF",
    *,
    press: Press | None = None,
    seconds: float = SECONDS,
    meanwhile: Meanwhile | None = None,
) -> Proof:
    """Render the trimmed pages under a light mark; the same input gives the same bytes.

    With `press` the pages of its print file, in the colours of their inks: a press proof. `images` are those of the
    print file then. `meanwhile` gets the texts as they were set, if a second renderer draws pages; it may not render,
    nor wait for a process of its own: both raise RenderingNested.

    `values` come from resolve_values; `images` maps an Image field's name to its uploaded PNG or JPEG.
    Raises ValuesInvalid naming each field that cannot be printed, RenderingFailed or RenderingBusy.
    """
    shown, in_print = fonts or FontSet.shipped(), press is not None
    builder = SheetBuilder(
        template, images or {}, shown, proof=not in_print, press=press, shows_plates=in_print
    )
    job: dict[str, Any] = dict(SCREEN) if press is None else {**press.job(template.pages), "makes": "proof"}
    job = _marked(builder, job, (mark or "")[:MARK_LETTERS] or None)
    parts, texts = _render(builder, values, job, seconds, press, meanwhile)
    return Proof(parts[0], tuple(parts[1:]), tuple(builder.sheet.messages), texts)


def render_page(
    template: Template,
    number: int,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    mark: str | None = None,
    *,
    pixels: int,
    with_bleed: bool = False,
    seconds: float = SECONDS,
) -> PagePicture:
    """Draw one page as it is trimmed, or with its bleed, `pixels` wide, for a form or the template designer.

    Boxes that cannot be printed are left out and reported, where render_proof raises ValuesInvalid.
    """
    page = template.pages[number].with_bleed() if with_bleed else template.pages[number]
    pixels = min(pixels, int((PAGE_PIXELS * page.width / page.height) ** 0.5))
    builder = SheetBuilder(
        replace(template, pages=(page,)), images or {}, fonts or FontSet.shipped(), proof=True
    )
    job = _marked(builder, {**SCREEN, "ppi": pixels / (page.width / 25.4), "page-only": True}, mark)
    workdir = current_workdir()
    artwork = workdir.hold_template(template)
    deadline = time.monotonic() + seconds
    try:
        sheet = builder.build(values, artwork)
        problems = [*sheet.problems, *sheet.messages]
        try:
            [picture], texts = _typeset(builder, workdir, job, deadline)
        except ValuesInvalid as error:
            problems += error.problems
            [picture], texts = _typeset(builder, workdir, {**job, "reporting": True}, deadline)
    finally:
        workdir.release_template(template)
    return PagePicture(picture, tuple(problems), tuple(replace(one, page=number) for one in texts))


def render_backgrounds(template: Template, *, ppi: float) -> list[bytes]:
    """A PNG of each page with its bleed but without its boxes, to read its colours from."""
    pages = tuple(replace(page.with_bleed(), boxes=()) for page in template.pages)
    builder = SheetBuilder(replace(template, pages=pages), {}, FontSet.shipped(), proof=True)
    job = {"mark": None, **SCREEN, "ppi": ppi, "page-only": True}
    return _render(builder, {}, job, SECONDS)[0]


def render_inks(template: Template, press: Press, *, ppi: float) -> list[bytes]:
    """A grey PNG of the ink of each page's background as it is trimmed, white where all inks are full."""
    builder = SheetBuilder(template, {}, FontSet.shipped(), proof=False, press=press, shows_plates=True)
    plain = {**SCREEN, "print": True, "slug": press.slug_mm, "makes": "inks", "ppi": ppi}
    return _render(builder, {}, _marked(builder, plain, None), SECONDS, press)[0]


def render_print(
    template: Template,
    values: Mapping[str, str],
    images: Mapping[str, bytes] | None = None,
    fonts: FontSet | None = None,
    *,
    mark: str | None = None,
    press: Press = BUILT_IN_PRESS,
    seconds: float = 6 * SECONDS,
) -> PrintFile:
    """Render for the press: PDF/X-4 as the preset says, pictures at full resolution.

    `mark` is for files that must not be printed.
    """
    shown = fonts or FontSet.shipped()
    builder = SheetBuilder(template, images or {}, shown, proof=False, press=press)
    job = _marked(builder, press.job(template.pages), mark)
    parts, texts = _render(builder, values, job, seconds, press)
    return PrintFile(parts[0], tuple(builder.sheet.messages), texts)


def render_document(
    layout: Path,
    data: Any,
    *,
    timestamp: int,
    pictures: Sequence[bytes] = (),
    seconds: float = SECONDS,
) -> bytes:
    """Render a Typst layout of one's own as a PDF; it reads `data` from job.json, as values and never as markup.

    `pictures` are PNG files, which the layout finds as 0.png, 1.png and so on.

    Raises RenderingFailed or RenderingBusy.
    """
    deadline = time.monotonic() + seconds
    workdir = current_workdir()
    setting = {
        "layout": "document",
        "timestamp": timestamp,
        "workdir": str(workdir.root),
        "fonts": workdir.font_folder(FontSet.shipped()),
        "ppi": DPI,
        "outputs": ["pdf"],
    }
    with shared_workers.lend(deadline) as worker:
        root = workdir.empty_root(worker.slot)
        try:
            for number, picture in enumerate(pictures):
                (root / f"{number}.png").write_bytes(picture)
            request = {**setting, "root": str(root)}
            header, parts = worker.render(request, [json.dumps(data).encode(), layout.read_bytes()], deadline)
        finally:
            workdir.clear_job(root)
    if not header["ok"]:
        raise RenderingFailed(f"The typesetter rejected {layout.name}: {header['message']}")
    return parts[0]


def try_template(template: Template, fonts: FontSet | None = None) -> None:
    """Render the template without values, as a check before it is saved; raise TemplateInvalid if that fails."""
    try:
        render_print(template, {}, fonts=fonts, seconds=SECONDS)
        render_proof(template, {}, fonts=fonts)
    except (RenderingFailed, ValuesInvalid) as error:
        raise TemplateInvalid(
            [Problem("", "not_renderable", f"The template can't be rendered: {error}")]
        ) from error


def _marked(builder: SheetBuilder, job: Mapping[str, Any], mark: str | None) -> dict[str, Any]:
    families = builder.fonts.chain(MARK_FAMILY, "".join([mark or "", *job["slug-lines"]]))[0]
    return {**job, "mark": mark, "mark-fonts": families}


def _render(
    builder: SheetBuilder,
    values: Mapping[str, str],
    job: dict[str, Any],
    seconds: float,
    press: Press | None = None,
    meanwhile: Meanwhile | None = None,
) -> tuple[list[bytes], tuple[SetText, ...]]:
    deadline = time.monotonic() + seconds
    workdir = current_workdir()
    artwork = workdir.hold_template(builder.template)
    try:
        sheet = builder.build(values, artwork)
        if sheet.problems:
            raise ValuesInvalid(sheet.problems)
        return _typeset(builder, workdir, job, deadline, press, meanwhile)
    finally:
        workdir.release_template(builder.template)


def _typeset(
    builder: SheetBuilder,
    workdir: WorkDir,
    job: dict[str, Any],
    deadline: float,
    press: Press | None = None,
    meanwhile: Meanwhile | None = None,
) -> tuple[list[bytes], tuple[SetText, ...]]:
    """The PDF, if it is wanted, and the PNG of each page; pages equal to recent ones are not drawn again."""
    sheet, setting = builder.sheet, _setting(builder, workdir, job.get("ppi"))
    # With a press everything is made from one PDF.
    keys = page_keys(sheet, job, setting) if press is None else []
    drawn = {key: png for key in keys if (png := drawn_pages.get(key)) is not None}
    new = [at for at, key in enumerate(keys) if key not in drawn]
    lend = shared_workers.lend_alone if sheet.is_large else shared_workers.lend
    with lend(deadline) as worker, workdir.job(worker.slot, builder.template, sheet.files()) as (root, paths):
        whole = _job(sheet.pages, job, paths)
        if press is not None:
            setting["press"] = _press_request(builder, press, root, paths, job)
        request = {**setting, "root": str(root), "outputs": _outputs(sheet, job, new)}
        is_alone = "page-only" in job and len(new) < SHARED_PAGES
        if press is not None or is_alone or not new:
            header, parts = _observed(worker, request, [whole], deadline)
            headers = [header]
        else:
            drawing = Drawing(
                request, whole, new, lambda some: _job([sheet.pages[at] for at in some], job, paths)
            )
            headers, parts = _apart(builder, workdir, worker, drawing, deadline, meanwhile)
    for header in headers:
        _refuse_failure(header, sheet)
    texts = _set_texts(headers[0], sheet)
    if press is not None:
        return parts, texts
    pdf = len(parts) - len(new)
    for at, png in zip(new, parts[pdf:], strict=True):
        drawn[keys[at]] = png
        drawn_pages.put(keys[at], png)
    return [*parts[:pdf], *(drawn[key] for key in keys)], texts


def _outputs(sheet: RenderInput, job: Mapping[str, Any], new: Sequence[int]) -> list[str]:
    """Of the request for the whole sheet, whose layout the later ones reuse."""
    first = [] if "page-only" in job and not new else ["png" if "page-only" in job else "pdf"]
    return [*first, SIZES] if sheet.places else first


def _apart(
    builder: SheetBuilder,
    workdir: WorkDir,
    worker: Worker,
    drawing: Drawing,
    deadline: float,
    meanwhile: Meanwhile | None,
) -> tuple[list[dict[str, Any]], list[bytes]]:
    """PDF and pages at the same time, if a second worker is free; `meanwhile` runs while pages are drawn."""
    sheet = builder.sheet
    with ExitStack() as lent:
        second = None if sheet.is_large else lent.enter_context(shared_workers.lend_second())
        request, jobs, left = drawing.first(is_shared=second is not None)
        if second is None:
            header, parts = _observed(worker, request, jobs, deadline)
            return [header], parts
        root, _ = lent.enter_context(workdir.job(second.slot, builder.template, sheet.files()))
        of_pages = {**drawing.request, "root": str(root), "outputs": ["png"]}
        second.send(of_pages, [drawing.pages(left)], deadline)
        header, parts = _observed(worker, request, jobs, deadline)
        if header["ok"] and meanwhile is not None:
            with refusing_to_wait(RenderingNested):
                meanwhile(_set_texts(header, sheet))
        drawn, pages = second.receive(deadline)
        observe_renderer(drawn.get("stages", {}))
    return [header, drawn], [*parts, *pages]


def _observed(
    worker: Worker, request: Mapping[str, Any], jobs: Sequence[bytes], deadline: float
) -> tuple[dict[str, Any], list[bytes]]:
    started = time.perf_counter()
    header, parts = worker.render(request, jobs, deadline)
    observe_renderer(header.get("stages", {}), time.perf_counter() - started)
    return header, parts


def _set_texts(header: Mapping[str, Any], sheet: RenderInput) -> tuple[SetText, ...]:
    return tuple(SetText(*sheet.places[at], *sizes) for at, *sizes in header.get("set", ()))


def _refuse_failure(header: Mapping[str, Any], sheet: RenderInput) -> None:
    if "unfit" in header:
        raise ValuesInvalid(_unfit_problems(sheet.fields, header["unfit"]))
    if not header["ok"]:
        raise RenderingFailed(f"The typesetter rejected the template: {header['message']}")


def _press_request(
    builder: SheetBuilder, press: Press, root: Path, paths: Mapping[str, str], job: Mapping[str, Any]
) -> dict[str, Any]:
    pictures = {digest: str(root / paths[name]) for digest, name in builder.sheet.plates.items()}
    return press.request(builder.template, pictures, builder.sheet.spots, makes=job.get("makes", "file"))


def proof_dpi(sizes: Iterable[tuple[float, float]]) -> float:
    """The resolution of a proof with pages of these sizes in mm: a banner in DPI takes a gigabyte, a book minutes."""
    areas = [width * height / 25.4**2 for width, height in sizes]
    return float(min(DPI, (PAGE_PIXELS / max(areas)) ** 0.5, (PROOF_PIXELS / sum(areas)) ** 0.5))


def _setting(builder: SheetBuilder, workdir: WorkDir, ppi: float | None) -> dict[str, Any]:
    return {
        "layout": "pages",
        "timestamp": 0,
        "workdir": str(workdir.root),
        "fonts": workdir.font_folder(builder.fonts),
        "ppi": ppi or proof_dpi((page.width, page.height) for page in builder.template.pages),
    }


def _job(pages: Sequence[dict[str, Any]], job: Mapping[str, Any], paths: Mapping[str, str]) -> bytes:
    for item in (item for page in pages for item in page["boxes"] if "picture" in item):
        item["file"] = paths[item["picture"]]
    for page in (page for page in pages if "picture" in page):
        page["background"] = paths[page["picture"]]
    title = "Print" if job["print"] or not job["mark"] else "Proof"
    whole = {"reporting": False, **job, "title": title, "pages": pages}
    return json.dumps(whole).encode()


def _unfit_problems(fields: Sequence[str], unfit: Sequence[int]) -> list[Problem]:
    names = dict.fromkeys(fields[number] for number in unfit)
    message = "does not fit its box, even at the smallest size."
    return [
        Problem(pointer(*([name] if name else [])), "does_not_fit", f"{name or 'A fixed text'} {message}")
        for name in names
    ]
