"""The process that renders; started by printing.typesetting.workers, ends when its socket closes.

The SVG and PDF artwork of a template can loop, exhaust the stack or exhaust the memory. In a separate process it
can end only this process, not the web worker.
"""

import ctypes
import json
import resource
import signal
import socket
import sys
import time
from contextlib import suppress
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
import typst

from printing.bounded_process import limit_process
from printing.press.colors import separation_of
from printing.press.profiles import OutputCondition, condition_of
from printing.press.proof import draw_inks, draw_proof
from printing.press.screen import fit_pictures
from printing.press.writer import PageBoxes, PressJob, write_press_file
from printing.typesetting.ipc import SIZES, receive_message, send_message

LAYOUTS = {
    "pages": (Path(__file__).parent / "layout.typ").read_bytes(),
    "pdf page": (Path(__file__).parent / "pdf_page.typ").read_bytes(),
}
# A document of the caller's own layout, which follows its data.
DOCUMENT = "document"
# A Compiler keeps every file it has read; a new one costs 3 ms.
RENDERINGS_OF_A_COMPILER = 500
# What Typst may keep of earlier renderings for the next ones, mostly laid out text and decoded artwork; and what one
# rendering may add to it. With the program and a font of 32 MB a renderer stays at 100 MB. A card adds 2 MB.
KEPT_KIB = ADDED_KIB = 8 * 1024
# Typst forgets what its last ten compilations did not use.
FORGETTING = 12
EMPTY: Any = {"main.typ": b"#set page(width: 1pt, height: 1pt)", "job.json": b"{}"}
# The layout of a rendering and its data, in its root folder.
MAIN, JOB = "main.typ", "job.json"
# What pdf_page.typ draws.
SHOWN = "shown.pdf"
STATUS, MEMORY = Path("/proc/self/status"), Path("/proc/self/statm")
PAGE_KIB = resource.getpagesize() // 1024
# Added to the niceness of the web worker: cheap requests get the processor first, renderings a quarter beside them.
NICENESS = 5


class Renderer:
    """Reuses one compiler for a root folder and a folder of fonts."""

    def __init__(self) -> None:
        self.fonts: dict[str, typst.Fonts] = {}
        self.key: tuple[str, str] | None = None
        self.compiler: typst.Compiler | None = None
        self.used = 0
        self.least_kib = self.held_kib = 0

    def forget(self) -> None:
        """Frees what Typst keeps of earlier renderings, where that is much; its fonts stay."""
        previous, resident = self.held_kib or sys.maxsize, _resident_kib()
        self.least_kib = self.least_kib or resident
        if self._is_much(resident, previous):
            # Freed blocks that are not given back yet do not count: after a booklet 12 MB of 52.
            _trim_memory()
            resident = _resident_kib()
        self.held_kib = resident
        if self._is_much(resident, previous) and self.compiler is not None:
            for _ in range(FORGETTING):
                self.compiler.compile(input=EMPTY, format="svg")
            _trim_memory()
            self.held_kib = self.least_kib = _resident_kib()

    def _is_much(self, held: int, before: int) -> bool:
        return held > before + ADDED_KIB or held > self.least_kib + KEPT_KIB

    def render(self, request: dict[str, Any], jobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        root = Path(request["root"])
        parts: list[bytes] = []
        if (ppi := request.get("shown_ppi")) is not None:
            (root / SHOWN).write_bytes(fit_pictures(jobs[-1], ppi))
        (root / MAIN).write_bytes(jobs[-1] if request["layout"] == DOCUMENT else LAYOUTS[request["layout"]])
        stages: dict[str, float] = {}
        header: dict[str, Any] = {"ok": True, "stages": stages}
        (root / JOB).write_bytes(jobs[0])
        for form in request["outputs"]:
            started = time.perf_counter()
            try:
                # The compiler's cache has the layout for the next output.
                if form == SIZES:
                    header["set"] = self._query(request, "<set>")
                else:
                    parts += self._compile(request, form)
            except typst.TypstError as error:
                if "unfit" in error.message:
                    return {"ok": False, "unfit": self._find_unfit(request, jobs[0])}, []
                return {"ok": False, "message": error.message}, []
            stages[form] = time.perf_counter() - started
        if (press := request.get("press")) is not None:
            started = time.perf_counter()
            parts = list(self._for_press(request, press, parts[0]))
            stages["press"] = time.perf_counter() - started
        if (later_outputs := request.get("then")) is not None:
            # What is drawn then belongs to the next job.
            later_header, later_parts = self.render(
                {**request, "outputs": later_outputs, "then": None}, jobs[1:]
            )
            header |= {**later_header, "stages": stages | later_header.get("stages", {})}
            parts += later_parts
        return header, parts

    def _for_press(self, request: dict[str, Any], press: dict[str, Any], pdf: bytes) -> list[bytes]:
        boxes = [PageBoxes(*sizes) for sizes in press["boxes"]]
        job = PressJob(condition=_read_condition(press["profile"]), boxes=boxes, **press["job"])
        printed = write_press_file(pdf, job)
        if press["makes"] == "file":
            return [printed]
        separation, ppi = separation_of(job.condition.profile, job.highest_ink), request["ppi"]
        draw = partial(self._page_of, request)
        if press["makes"] == "inks":
            return draw_inks(printed, separation, draw, ppi, overprints=job.keeps_overprint)
        proof, pages = draw_proof(printed, separation, draw, ppi, is_cmyk=job.is_cmyk)
        return [proof, *pages]

    def _page_of(self, request: dict[str, Any], pdf: bytes, number: int, ppi: float) -> bytes:
        """A PNG of a page of our own, as large as its box says."""
        root = Path(request["root"])
        (root / SHOWN).write_bytes(pdf)
        (root / MAIN).write_bytes(LAYOUTS["pdf page"])
        with pikepdf.open(BytesIO(pdf)) as document:
            left, bottom, right, top = (float(side) for side in document.pages[number].mediabox)
        width, height = right - left, top - bottom
        job = {
            "page": number + 1,
            "box": [0, 0, width, height],
            "sheet": [width, height],
            "width": round(width / 72 * ppi),
            "height": round(height / 72 * ppi),
        }
        (root / JOB).write_text(json.dumps(job))
        return self._compile({**request, "ppi": 72}, "png")[0]

    def _find_unfit(self, request: dict[str, Any], job: bytes) -> list[int]:
        (Path(request["root"]) / JOB).write_text(json.dumps({**json.loads(job), "reporting": True}))
        return sorted(set(self._query(request, "<unfit>")))

    def _query(self, request: dict[str, Any], label: str) -> Any:
        return json.loads(self._get_compiler(request).query(label, field="value", root=request["root"]))

    def _compile(self, request: dict[str, Any], form: Any) -> list[bytes]:
        output = self._get_compiler(request).compile(
            input=Path(request["root"]) / MAIN,
            format=form,
            ppi=request["ppi"],
            timestamp=request["timestamp"],
        )
        return output if isinstance(output, list) else [output or b""]

    def _get_compiler(self, request: dict[str, Any]) -> typst.Compiler:
        """Returns a compiler. It reads MAIN and JOB of its root anew only when given `input` or `root`."""
        root, fonts = key = request["root"], request["fonts"]
        self.used += 1
        if self.compiler is None or self.key != key or self.used > RENDERINGS_OF_A_COMPILER:
            self.compiler, self.key, self.used = self._new_compiler(root, fonts), key, 0
        return self.compiler

    def _new_compiler(self, root: str, fonts: str) -> typst.Compiler:
        if fonts not in self.fonts:
            self.fonts = {fonts: typst.Fonts(False, False, [fonts])}
        nowhere = str(Path(root) / "no-packages")
        return typst.Compiler(
            Path(root) / MAIN,
            root=root,
            font_paths=self.fonts[fonts],
            ignore_system_fonts=True,
            package_path=nowhere,
            package_cache_path=nowhere,
        )


@lru_cache(maxsize=4)
def _read_condition(profile: str) -> OutputCondition:
    """The file of a profile is named by its content, so it never changes."""
    return condition_of(Path(profile).read_bytes())


def serve(channel: socket.socket) -> None:
    renderer = Renderer()
    while True:
        try:
            request, jobs = receive_message(channel)
        except (EOFError, ConnectionError):
            return
        try:
            header, parts = renderer.render(request, jobs)
        except Exception as error:  # noqa: BLE001 - a customer's PDF may hold anything, and this process is sound
            header, parts = {"ok": False, "message": f"{type(error).__name__}: {error}"}, []
        header["peak"] = _peak_kib()
        send_message(channel, header, parts)
        del header, parts, jobs
        renderer.forget()


def _trim_memory() -> None:
    """Gives back to the machine all that is free now; takes milliseconds."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _resident_kib() -> int:
    return int(MEMORY.read_bytes().split()[1]) * PAGE_KIB


def _peak_kib() -> int:
    # getrusage starts with the peak of the web worker, which a child inherits. It is used only where the kernel
    # reports no VmHWM, as in some sandboxes.
    try:
        peak = STATUS.read_bytes().partition(b"VmHWM:")[2].split(maxsplit=1)
    except OSError:
        peak = []
    return int(peak[0]) if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    # Both signals go to the whole process group: the web worker must finish its requests before this process ends.
    for stop_signal in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop_signal, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    limit_process(niceness=NICENESS, memory=int(sys.argv[2]))
    with socket.socket(fileno=int(sys.argv[1])) as own_end:
        serve(own_end)
