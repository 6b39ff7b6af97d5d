"""What press-ready print files cost: time added to the typesetter's, and the memory of a renderer.

python -m tests.benchmarks.press
"""

import io
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from PIL import Image

from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Field, Press, load_fields, parse_template, render_print
from printing.typesetting.workers import shared_workers
from tests.benchmarks import MISSED
from tests.support.printing.made_templates import DEMO, card
from tests.support.printing.own_renderer import OwnRenderer
from tests.support.printing.press_samples import demo_print

TRIES = 20
CARD, BOOKLET = "business-card-standard", "booklet-8-page-5.5x8.5"
ADDED_MS, TIMES_AS_LONG, MEMORY_MB = 40, 2, 250
PRESS = Press(rules=PresetRules(policy=ColorPolicy.CMYK))


class Timed(OwnRenderer):
    """`added` are the milliseconds of what follows the typesetter."""

    def __init__(self) -> None:
        super().__init__()
        self.added: list[float] = []

    def _for_press(self, *work: Any) -> list[bytes]:
        started = time.perf_counter()
        made = super()._for_press(*work)
        self.added.append((time.perf_counter() - started) * 1000)
        return made


def measure(name: str) -> tuple[float, float]:
    """Medians of milliseconds: of a print file, and of what follows the typesetter.

    With another text each time, as orders have: the typesetter keeps what it has set before.
    """
    template, values, images = demo_print(name)
    changed = next(field.field_name for field in load_fields(DEMO / name) if field.field_name in values)
    timed, wholes = Timed(), []
    with patch("printing.typesetting.runs.shared_workers", timed):
        for number in range(TRIES + 2):
            text = values[changed][:-1] + chr(ord("a") + number)
            started = time.perf_counter()
            render_print(template, {**values, changed: text}, images, press=PRESS)
            wholes.append((time.perf_counter() - started) * 1000)
    # The first two also read fonts and profiles.
    return statistics.median(wholes[2:]), statistics.median(timed.added[2:])


def large_photo(noise: float) -> bytes:
    """Of 50 megapixels, and nearly as many bytes as an upload may have."""
    out = io.BytesIO()
    picture = Image.effect_noise((790, 630), noise).resize((7900, 6300))
    picture.convert("RGB").save(out, "JPEG", quality=88)
    return out.getvalue()


def largest_pictures() -> int:
    """The most memory of a renderer, in MB, that was new when it placed pictures of 50 megapixels."""
    shared_workers.close()
    fields = [Field(f"P{number}", type="Image", sub_type="Upload") for number in range(2)]
    boxes = [
        {
            "Field": field.field_name,
            "Kind": "Image",
            "X": 5,
            "Y": 5 + 20 * position,
            "Width": 60,
            "Height": 18,
        }
        for position, field in enumerate(fields)
    ]
    photo = large_photo(60)
    images = {field.field_name: photo for field in fields}
    values = {field.field_name: "x" for field in fields}
    render_print(parse_template(card(*boxes), fields), values, images, press=PRESS)
    [worker] = shared_workers._idle
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    shared_workers.close()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def main() -> int:
    (card_ms, added), (booklet_ms, more) = measure(CARD), measure(BOOKLET)
    times, memory = booklet_ms / (booklet_ms - more), largest_pictures()
    print(f"load average {os.getloadavg()[0]:.1f}")
    print(f"two-sided card: {card_ms:.0f} ms, {added:.0f} after the typesetter (mark {ADDED_MS})")
    print(
        f"8-page booklet: {booklet_ms:.0f} ms, {times:.1f} times the typesetter alone (mark {TIMES_AS_LONG})"
    )
    print(f"memory of a renderer with two pictures of 50 megapixels: {memory} MB (mark {MEMORY_MB})")
    good = added <= ADDED_MS and times <= TIMES_AS_LONG and memory <= MEMORY_MB
    return 0 if good else MISSED


if __name__ == "__main__":
    sys.exit(main())
