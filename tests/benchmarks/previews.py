"""The picture of the template designer: `python -m tests.benchmarks.previews`.

Of each design of the demo the first page is changed as a drag changes it, and drawn each time, with its bleed and as
large as the canvas shows it at 1280 px. Prints the middle and the 95th percentile of each, by the clock and by the
processor time of this process and its renderers, and fails where the 95th percentile of all together is over the mark:
by the clock on a quiet machine, by processor time on any.
"""

import os
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

MARK = 100.0
# Of processor time: what is left of the mark is for request, network and the browser's own work.
PROCESSOR_MARK = 50.0
# Above it the clock measures what else runs.
QUIET_LOAD = 1.5
CHANGES = 20
# What a canvas at 1280 px has room for.
CANVAS = (640, 510)
DESIGNS = Path(__file__).resolve().parents[2] / "stores" / "demo" / "templates"


def family() -> list[Path]:
    """The threads of this process and of those it started, renderers included."""
    parents, found = {}, {os.getpid()}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return [task for one in found for task in Path(f"/proc/{one}/task").glob("*/schedstat")]


def processor_milliseconds(tasks: Sequence[Path]) -> float:
    spent = 0
    for task in tasks:
        with suppress(OSError):
            spent += int(task.read_text().split()[0])
    return spent / 1e6


def milliseconds_of(design: Path, changes: int = CHANGES) -> list[tuple[float, float]]:
    """Without the first picture, for which fonts and pictures are read."""
    from printing.preflight import ProductFacts
    from printing.press.rules import MANAGED
    from printing.typesetting import FontSet, load_fields, load_template_folder, parse_template
    from stores.editor.admin.view_model import first_samples
    from stores.editor.selectors.drafts import Draft, EditorContext
    from stores.editor.services.previews import preview_page

    template, fields = load_template_folder(design), load_fields(design)
    parsed = parse_template(template, fields)
    pictures = {one.digest: one for one in (*parsed.artwork.values(), *parsed.gallery.values())}
    artwork, gallery = (
        {name: one.digest for name, one in part.items()} for part in (parsed.artwork, parsed.gallery)
    )
    editor = EditorContext(0, 0, fields, FontSet.shipped(), MANAGED, ProductFacts(0, 0, 0), pictures)
    samples = first_samples(editor, Draft(template["Pages"], artwork, gallery))
    page = parsed.pages[0].with_bleed()
    pixels = round(min(CANVAS[0], CANVAS[1] * page.width / page.height))
    times, tasks = [], family()
    for step in range(changes + 1):
        [first, *others] = template["Pages"]
        moved = [{**box, "X": box["X"] - step % 7 * 0.1} for box in first["Boxes"]]
        draft = Draft([{**first, "Boxes": moved}, *others], artwork, gallery)
        if step == 1:
            tasks = family()
        processor, started = processor_milliseconds(tasks), time.perf_counter()
        found = preview_page(
            editor=editor, draft=draft, number=0, samples=samples, pixels=pixels, with_bleed=True
        )
        elapsed = 1000 * (time.perf_counter() - started)
        times.append((elapsed, processor_milliseconds(tasks) - processor))
        assert found.png, found.faults
    return times[1:]


def high_of(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    every: list[tuple[float, float]] = []
    for design in sorted(path for path in DESIGNS.iterdir() if path.is_dir()):
        times = milliseconds_of(design)
        every += times
        print(line_of(design.name, times))
    load = os.getloadavg()[0]
    print(f"{line_of('all', every)}\nload average {load:.1f}, marks {MARK:g} and {PROCESSOR_MARK:g} ms")
    by_clock, by_processor = (high_of(list(column)) for column in zip(*every, strict=True))
    return int(by_processor > PROCESSOR_MARK or (load < QUIET_LOAD and by_clock > MARK))


def line_of(name: str, times: Sequence[tuple[float, float]]) -> str:
    clock, processor = (list(column) for column in zip(*times, strict=True))
    parts = [f"{statistics.median(one):6.1f} ms  95 %: {high_of(one):6.1f} ms" for one in (clock, processor)]
    return f"{name:28} {parts[0]}   processor {parts[1]}"


if __name__ == "__main__":
    sys.exit(main())
