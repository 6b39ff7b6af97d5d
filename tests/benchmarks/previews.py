"""The picture of the template designer: `python -m tests.benchmarks.previews`.

Of each design of the demo the first page is changed as a drag changes it, and drawn each time, with its bleed and as
large as the canvas shows it at 1280 px. Prints the middle and the 95th percentile of each, and fails where the latter
of all together is over the mark.
"""

import os
import statistics
import sys
import time
from pathlib import Path

MARK = 100.0
CHANGES = 40
# What a canvas at 1280 px has room for.
CANVAS = (640, 510)
DESIGNS = Path(__file__).resolve().parents[2] / "stores" / "demo" / "templates"


def milliseconds_of(design: Path, changes: int = CHANGES) -> list[float]:
    """Without the first picture, for which fonts and pictures are read."""
    from stores.editor.admin.view_model import first_samples
    from stores.editor.selectors.drafts import Draft, EditorContext
    from stores.editor.services.previews import preview_page
    from stores.preflight import ProductFacts
    from stores.press.rules import MANAGED
    from stores.typesetting import FontSet, load_fields, load_template_folder, parse_template

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
    times = []
    for step in range(changes + 1):
        [first, *others] = template["Pages"]
        moved = [{**box, "X": box["X"] - step % 7 * 0.1} for box in first["Boxes"]]
        draft = Draft([{**first, "Boxes": moved}, *others], artwork, gallery)
        started = time.perf_counter()
        found = preview_page(
            editor=editor, draft=draft, number=0, samples=samples, pixels=pixels, with_bleed=True
        )
        times.append(1000 * (time.perf_counter() - started))
        assert found.png, found.faults
    return times[1:]


def high_of(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    every: list[float] = []
    for design in sorted(path for path in DESIGNS.iterdir() if path.is_dir()):
        times = milliseconds_of(design)
        every += times
        print(f"{design.name:28} {statistics.median(times):6.1f} ms  95 %: {high_of(times):6.1f} ms")
    high = high_of(every)
    print(f"{'all':28} {statistics.median(every):6.1f} ms  95 %: {high:6.1f} ms (mark {MARK:g} ms)")
    print(f"load average {os.getloadavg()[0]:.1f}")
    return int(high > MARK)


if __name__ == "__main__":
    sys.exit(main())
