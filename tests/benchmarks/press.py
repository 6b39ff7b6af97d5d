"""What press-ready print files cost: time added to the typesetter's, bytes, and the memory of a renderer.

python -m tests.benchmarks.press
"""

import io
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from PIL import Image

from printing.press.rules import ColourPolicy, PresetRules
from printing.typesetting import Field, Press, load_fields, parse_template, render_print
from printing.typesetting.workers import shared_workers
from tests.support.made_templates import DEMO, card
from tests.support.own_renderer import OwnRenderer
from tests.support.press_samples import demo_print

TRIES = 20
# Of an upload.
MAX_BYTES = 10 * 1024 * 1024
CARD, BOOKLET = "business-card-standard", "booklet-8-page-5.5x8.5"
ADDED_MS, TIMES_AS_LONG, MEMORY_MB = 40, 2, 250
# As tests.benchmarks.__main__ has it.
MISSED = 3


class Timed(OwnRenderer):
    """`added` and `busy` are the milliseconds of what follows the typesetter."""

    def __init__(self) -> None:
        super().__init__()
        self.added: list[float] = []
        self.busy: list[float] = []

    def _for_press(self, *work: Any) -> list[bytes]:
        started, worked = time.perf_counter(), time.process_time()
        made = super()._for_press(*work)
        self.added.append((time.perf_counter() - started) * 1000)
        self.busy.append((time.process_time() - worked) * 1000)
        return made


@dataclass(frozen=True)
class Figures:
    """In milliseconds, each the median; `alone` is what is left without the writer."""

    name: str
    policy: ColourPolicy
    whole: float
    added: float
    busy: float
    size: int

    @property
    def times_as_long(self) -> float:
        return self.whole / (self.whole - self.added)

    @property
    def keeps_mark(self) -> bool:
        return self.added <= ADDED_MS if self.name == CARD else self.times_as_long <= TIMES_AS_LONG

    def __str__(self) -> str:
        times = f"{self.whole:.0f} ms | {self.added:.0f} ms | {self.busy:.0f} ms | {self.times_as_long:.1f}"
        note = "" if self.keeps_mark else " **(under)**"
        return f"| {self.name} | {self.policy} | {times}{note} | {self.size:,} |"


def measure(name: str, policy: ColourPolicy) -> Figures:
    """With another text each time, as orders have: the typesetter keeps what it has set before."""
    press = Press(rules=PresetRules(policy=policy))
    template, values, images = demo_print(name)
    changed = next(one.field_name for one in load_fields(DEMO / name) if one.field_name in values)
    timed, wholes, size = Timed(), [], 0
    with patch("printing.typesetting.runs.shared_workers", timed):
        for number in range(TRIES + 2):
            text = values[changed][:-1] + chr(ord("a") + number)
            started = time.perf_counter()
            size = len(render_print(template, {**values, changed: text}, images, press=press).pdf)
            wholes.append((time.perf_counter() - started) * 1000)
    return Figures(name, policy, _middle(wholes), _middle(timed.added), _middle(timed.busy), size)


def _middle(times: Sequence[float]) -> float:
    """The first two also read fonts and profiles."""
    return statistics.median(times[2:])


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
    assert 4_000_000 < len(out.getvalue()) < MAX_BYTES, len(out.getvalue())
    images = {one.field_name: out.getvalue() for one in fields}
    values = {one.field_name: "x" for one in fields}
    press = Press(rules=PresetRules(policy=ColourPolicy.CMYK))
    render_print(parse_template(card(*boxes), fields), values, images, press=press)
    [worker] = shared_workers._idle
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    shared_workers.close()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def main() -> int:
    print(f"load average {os.getloadavg()[0]:.1f}")
    print(
        "| product | colours | print file | added by the writer | its processor time | times as long | bytes |"
    )
    print("|---|---|---|---|---|---|---|")
    rows = [measure(product, policy) for product in (CARD, BOOKLET) for policy in ColourPolicy]
    print(*rows, sep="\n")
    memory = largest_pictures()
    print(f"memory of a renderer with two pictures of 50 megapixels: {memory} MB")
    return 0 if memory <= MEMORY_MB and all(one.keeps_mark for one in rows) else MISSED


if __name__ == "__main__":
    sys.exit(main())
