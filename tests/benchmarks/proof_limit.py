"""The limit of proofs: the renderer alone, in one process without HTTP, database and files of proofs.

The same template, values and outputs. A process of it makes proofs for as many seconds as each line it reads says, and
writes how many they were and the processor time they took.
"""

import json
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from printing.typesetting import (
    load_fields,
    load_sample,
    load_template_folder,
    parse_template,
    render_proof,
    resolve_values,
)
from tests.support.printing.made_templates import DEMO
from tests.support.printing.own_renderer import OwnRenderer


@dataclass(frozen=True)
class Made:
    """Proofs a second, and the processor milliseconds of one."""

    rate: float
    processor_ms: float


class Limit:
    """Some renderers of one product, each a process of its own."""

    def __init__(self, product: str, field: str, renderers: int, opened: ExitStack) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.proof_limit", product, field]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._processes: list[subprocess.Popen[str]] = [
            opened.enter_context(subprocess.Popen(command, **pipes)) for _ in range(renderers)
        ]

    def measure(self, seconds: float) -> Made:
        for process in self._processes:
            print(seconds, file=process.stdin, flush=True)
        made = [json.loads(process.stdout.readline()) for process in self._processes]
        count = sum(number for number, _ in made)
        return Made(count / seconds, 1000 * sum(busy for _, busy in made) / count)


def main(product: str, changed: str, lines: Sequence[str] | Any = sys.stdin) -> None:
    fields = load_fields(DEMO / product)
    template = parse_template(load_template_folder(DEMO / product), fields)
    values = resolve_values(fields, load_sample(DEMO / product), template.gallery)
    run, count = secrets.token_hex(3), 0
    with patch("printing.typesetting.runs.shared_workers", OwnRenderer()):
        for line in lines:
            before, worked = count, time.process_time()
            end = time.monotonic() + float(line)
            while time.monotonic() < end:
                count += 1
                render_proof(template, {**values, changed: f"Ada {run}{count}"})
            print(json.dumps([count - before, time.process_time() - worked]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
