"""One rendering in the renderer processes: its requests, the pages kept from earlier ones, and what came of it."""

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from printing.caches import WeightedCache
from printing.press import isolation
from printing.typesetting.errors import InputProblem, RenderingFailed, ValuesInvalid, pointer
from printing.typesetting.fonts import FontSet
from printing.typesetting.ipc import SIZES
from printing.typesetting.press import Press
from printing.typesetting.render_input import RenderInput, RenderInputBuilder
from printing.typesetting.workdir import WorkDir, current_workdir
from printing.typesetting.workers import Worker, shared_workers
from printing.waiting import observe_renderer, waited_seconds

# Most proofs change few pages.
DRAWN_BYTES = 32 * 1024 * 1024

drawn_pages: WeightedCache[str, bytes] = WeightedCache(capacity=DRAWN_BYTES, weight=len)
DPI = 144
PAGE_PIXELS = 16_000_000
PROOF_PIXELS = 30_000_000
# From so many pages on two renderers share them: one alone may not draw a hundred in its time.
SHARED_PAGES = 12
# The share of the pages for the renderer that makes the PDF as well.
SHARE_BESIDE_PDF = 0.4


def page_keys(render_input: RenderInput, job: Mapping[str, Any], setting: Mapping[str, Any]) -> list[str]:
    """Digests all that each page is drawn from: equal pages are the same picture."""
    pictures = {
        key: hashlib.sha256(content).hexdigest() for key, (content, _) in render_input.pictures.items()
    }
    common = json.dumps([job, setting["ppi"], setting["fonts"]])
    return [
        hashlib.sha256((common + _drawn_from(page, pictures)).encode()).hexdigest()
        for page in render_input.pages
    ]


def _drawn_from(page: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """A text has a number among those of all pages, which is not drawn; a picture of the caller has no name."""
    boxes = [{**box, "id": None, "picture": pictures.get(box.get("picture", ""))} for box in page["boxes"]]
    return json.dumps({**page, "boxes": boxes})


@dataclass(frozen=True, slots=True)
class SetText:
    """A text as it was set: `page` and `box` are places in the template, the size is in points, the rest in mm."""

    page: int
    box: int
    size: float
    width: float
    height: float


@dataclass(slots=True)
class Run:
    """One rendering, and its deadline by `own_time`. With a `press` everything is made from one PDF."""

    builder: RenderInputBuilder
    workdir: WorkDir
    job: Mapping[str, Any]
    deadline: float
    press: Press | None = None

    def typeset(self) -> tuple[list[bytes], tuple[SetText, ...]]:
        """The PDF, if it is wanted, and the PNG of each page; pages equal to recent ones are not drawn again."""
        render_input, setting = self.builder.render_input, self._build_setting()
        keys = page_keys(render_input, self.job, setting) if self.press is None else []
        png_by_key = {key: png for key in keys if (png := drawn_pages.get(key)) is not None}
        new_numbers = [number for number, key in enumerate(keys) if key not in png_by_key]
        headers, parts = self._render_pages(setting, new_numbers)
        for header in headers:
            _refuse_failure(header, render_input)
        texts = tuple(
            SetText(*render_input.places[number], *sizes) for number, *sizes in headers[0].get("set", ())
        )
        if self.press is not None:
            return parts, texts
        pdf = len(parts) - len(new_numbers)
        for number, png in zip(new_numbers, parts[pdf:], strict=True):
            png_by_key[keys[number]] = png
            drawn_pages.put(keys[number], png)
        return [*parts[:pdf], *(png_by_key[key] for key in keys)], texts

    def _build_setting(self) -> dict[str, Any]:
        pages = self.builder.template.pages
        return {
            "layout": "pages",
            "timestamp": 0,
            "fonts": self.workdir.font_folder(self.builder.fonts),
            "ppi": self.job.get("ppi") or proof_dpi((page.width, page.height) for page in pages),
        }

    def _render_pages(
        self, setting: dict[str, Any], new: Sequence[int]
    ) -> tuple[list[dict[str, Any]], list[bytes]]:
        """The headers and the parts of the renderers' replies; of the pages only the `new` ones.

        Large pictures are held whole, by one renderer at a time. A wait for others' is not the fault of these values.
        """
        with isolation.one_at_a_time() if self.builder.render_input.is_large else nullcontext():
            return self._render_in_turn(setting, new)

    @property
    def _end(self) -> float:
        return self.deadline + waited_seconds()

    def _render_in_turn(
        self, setting: dict[str, Any], new: Sequence[int]
    ) -> tuple[list[dict[str, Any]], list[bytes]]:
        builder, render_input, job = self.builder, self.builder.render_input, self.job
        with (
            shared_workers.lend(self._end) as worker,
            self.workdir.job(worker.slot, builder.template, render_input.files()) as (root, paths),
        ):
            request = {**setting, "root": str(root), "outputs": _list_outputs(render_input, job, new)}
            if self.press is not None:
                request["press"] = self._press_request(self.press, root, paths)
            elif "page-only" not in job and new:
                return self._render_with_pages(worker, request, new, paths)
            pages = [render_input.pages[number] for number in new] or render_input.pages
            header, parts = _render_and_observe(worker, request, [_write_job(pages, job, paths)], self._end)
            return [header], parts

    def _press_request(self, press: Press, root: Path, paths: Mapping[str, str]) -> dict[str, Any]:
        render_input = self.builder.render_input
        pictures = {digest: str(root / paths[name]) for digest, name in render_input.plates.items()}
        makes = self.job.get("makes", "file")
        return press.request(self.builder.template, pictures, render_input.spots, makes=makes)

    def _render_with_pages(
        self, worker: Worker, request: dict[str, Any], new: Sequence[int], paths: Mapping[str, str]
    ) -> tuple[list[dict[str, Any]], list[bytes]]:
        """The PDF, then the new pages; a second worker takes most of many, if one is free."""
        render_input = self.builder.render_input
        new_pages = [render_input.pages[number] for number in new]
        with ExitStack() as lent:
            second, own_count = None, len(new_pages)
            if len(new_pages) >= SHARED_PAGES and not render_input.is_large:
                second = lent.enter_context(shared_workers.lend_second())
            if second is not None:
                own_count = int(len(new_pages) * SHARE_BESIDE_PDF)
                root, _ = lent.enter_context(
                    self.workdir.job(second.slot, self.builder.template, render_input.files())
                )
                of_pages = {**request, "root": str(root), "outputs": ["png"]}
                second.send(of_pages, [_write_job(new_pages[own_count:], self.job, paths)], self._end)
            page_lists = (render_input.pages, new_pages[:own_count])
            jobs = [_write_job(pages, self.job, paths) for pages in page_lists]
            header, parts = _render_and_observe(worker, {**request, "then": ["png"]}, jobs, self._end)
            if second is None:
                return [header], parts
            second_header, pages = second.receive(self._end)
            observe_renderer(second_header.get("stages", {}))
        return [header, second_header], [*parts, *pages]


def typeset_alone(
    setting: Mapping[str, Any], parts: Sequence[bytes], seconds: float, pictures: Sequence[bytes] = ()
) -> tuple[dict[str, Any], list[bytes]]:
    """The reply to a layout that needs no template. `pictures` are 0.png, 1.png and so on to it."""
    workdir = current_workdir()
    fonts = workdir.font_folder(FontSet.shipped())
    with shared_workers.lend(deadline := time.monotonic() + seconds) as worker:
        root = workdir.empty_root(worker.slot)
        try:
            for number, picture in enumerate(pictures):
                (root / f"{number}.png").write_bytes(picture)
            return worker.render({**setting, "fonts": fonts, "root": str(root)}, parts, deadline)
        finally:
            workdir.clear_job(root)


def proof_dpi(sizes: Iterable[tuple[float, float]]) -> float:
    """The resolution of a proof with pages of these sizes in mm: a banner in DPI takes a gigabyte, a book minutes."""
    areas = [width * height / 25.4**2 for width, height in sizes]
    return float(min(DPI, (PAGE_PIXELS / max(areas)) ** 0.5, (PROOF_PIXELS / sum(areas)) ** 0.5))


def _list_outputs(render_input: RenderInput, job: Mapping[str, Any], new: Sequence[int]) -> list[str]:
    """The outputs of the request for all pages, whose layout the later ones reuse."""
    first = [] if "page-only" in job and not new else ["png" if "page-only" in job else "pdf"]
    return [*first, SIZES] if render_input.places else first


def _write_job(pages: Sequence[dict[str, Any]], job: Mapping[str, Any], paths: Mapping[str, str]) -> bytes:
    for item in (item for page in pages for item in page["boxes"] if "picture" in item):
        item["file"] = paths[item["picture"]]
    for page in (page for page in pages if "picture" in page):
        page["background"] = paths[page["picture"]]
    title = "Print" if job["print"] or not job["mark"] else "Proof"
    document = {"reporting": False, **job, "title": title, "pages": pages}
    return json.dumps(document).encode()


def _render_and_observe(
    worker: Worker, request: Mapping[str, Any], jobs: Sequence[bytes], deadline: float
) -> tuple[dict[str, Any], list[bytes]]:
    started = time.perf_counter()
    header, parts = worker.render(request, jobs, deadline)
    observe_renderer(header.get("stages", {}), time.perf_counter() - started)
    return header, parts


def _refuse_failure(header: Mapping[str, Any], render_input: RenderInput) -> None:
    if "unfit" in header:
        raise ValuesInvalid(_unfit_problems(render_input.fields, header["unfit"]))
    if not header["ok"]:
        raise RenderingFailed(f"The typesetter rejected the template: {header['message']}")


def _unfit_problems(fields: Sequence[str], unfit: Sequence[int]) -> list[InputProblem]:
    names = dict.fromkeys(fields[number] for number in unfit)
    message = "does not fit its box, even at the smallest size."
    return [
        InputProblem(
            pointer(*([name] if name else [])), "does_not_fit", f"{name or 'A fixed text'} {message}"
        )
        for name in names
    ]
