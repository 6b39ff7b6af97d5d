"""What press-ready print files cost: time added to the typesetter's, bytes, and the memory of a renderer.

python -m tests.benchmarks.press
"""

import io
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pikepdf
from PIL import Image

from stores.press.profiles import shipped_condition
from stores.press.rules import ColourPolicy, PresetRules
from stores.press.writer import PageBoxes, PressJob, write_press_file
from stores.typesetting import Field, Press, parse_template, render_print
from stores.typesetting.workers import shared_workers
from tests.support.made_templates import card
from tests.support.press_samples import demo_print

TRIES = 20
# Of an upload.
MAXIMUM_BYTES = 10 * 1024 * 1024


def median(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    times = []
    for _ in range(TRIES):
        start = clock()
        work()
        times.append((clock() - start) * 1000)
    return statistics.median(times)


def measure(name: str, policy: ColourPolicy) -> str:
    press = Press(rules=PresetRules(policy=policy))
    template, values, images = demo_print(name)
    content = render_print(template, values, images, press=press).pdf
    whole = median(lambda: render_print(template, values, images, press=press))
    boxes = [PageBoxes(page.width, page.height, page.bleed, press.slug_mm) for page in template.pages]
    job = PressJob(shipped_condition(), press.rules.is_cmyk, 300, "x", boxes)
    source = _plain(content)
    added = median(lambda: write_press_file(source, job))
    busy = median(lambda: write_press_file(source, job), time.process_time)
    return f"| {name} | {policy} | {whole:.0f} ms | {added:.0f} ms | {busy:.0f} ms | {len(content):,} |"


def _plain(content: bytes) -> bytes:
    """As the typesetter writes it, as far as it counts: without the profile, compressed."""
    with pikepdf.open(io.BytesIO(content)) as pdf:
        del pdf.Root.OutputIntents
        out = io.BytesIO()
        pdf.save(out)
        return out.getvalue()


def largest_pictures() -> int:
    """The most memory of a renderer, in MB, that was new when it placed pictures of 50 megapixels."""
    shared_workers.close()
    fields = [Field(f"P{number}", type="Image", sub_type="Upload") for number in range(2)]
    boxes = [
        {"Field": one.field_name, "Kind": "Image", "X": 5, "Y": 5 + 20 * at, "Width": 60, "Height": 18}
        for at, one in enumerate(fields)
    ]
    out = io.BytesIO()
    Image.effect_noise((790, 630), 60).resize((7900, 6300)).convert("RGB").save(out, "JPEG", quality=88)
    assert 4_000_000 < len(out.getvalue()) < MAXIMUM_BYTES, len(out.getvalue())
    images = {one.field_name: out.getvalue() for one in fields}
    values = {one.field_name: "x" for one in fields}
    press = Press(rules=PresetRules(policy=ColourPolicy.CMYK))
    render_print(parse_template(card(*boxes), fields), values, images, press=press)
    [worker] = shared_workers._idle
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


if __name__ == "__main__":
    print(f"load average {os.getloadavg()[0]:.1f}")
    print(
        "| product | colours | print file, p50 | added by the writer, p50 | its processor time, p50 | bytes |"
    )
    print("|---|---|---|---|---|---|")
    for product in ("business-card-standard", "booklet-8-page-5.5x8.5"):
        for policy in ColourPolicy:
            print(measure(product, policy))
    print(f"memory of a renderer with two pictures of 50 megapixels: {largest_pictures()} MB")
    shared_workers.close()
