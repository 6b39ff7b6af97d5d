"""The processes of the attacker and of the good caller."""

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from fulfillment.local import supervision
from tests.benchmarks.neighbours import attacker, good_caller
from tests.benchmarks.neighbours.scene import CHEAP_READ, Scene
from tests.benchmarks.soak_scene import ROOT

Process = subprocess.Popen[str]
GOOD_ADDRESS = "127.0.0.2"


@contextlib.contextmanager
def good_calls(scene: Scene, seconds: float) -> Iterator[Process]:
    headers = dict(scene.neighbour)
    plan = good_caller.Plan(_port(scene), GOOD_ADDRESS, seconds, CHEAP_READ, headers)
    with _running(good_caller, json.dumps(asdict(plan)).encode() + b"\n") as process:
        yield process


@contextlib.contextmanager
def attacking(
    scene: Scene,
    requests: Sequence[bytes],
    *,
    source: str,
    connections: int,
    seconds: float,
    pace: str = "whole",
) -> Iterator[Process]:
    """It has begun when the block does. `source` is the address it comes from."""
    lengths = [len(each) for each in requests]
    plan = attacker.Plan(_port(scene), source, connections, seconds, pace, lengths)
    content = json.dumps(asdict(plan)).encode() + b"\n" + b"".join(requests)
    with _running(attacker, content) as process:
        report_of(process, wait=False)
        yield process


def report_of(process: Process, *, wait: bool = True) -> dict[str, Any]:
    """The next line that a process writes; by default its last."""
    if process.stdout is None or not (line := process.stdout.readline()):
        raise RuntimeError("a caller of the benchmark ended without a word")
    if wait:
        process.wait()
    found: dict[str, Any] = json.loads(line)
    return found


@contextlib.contextmanager
def _running(module: Any, content: bytes) -> Iterator[Process]:
    """What it is sent lies in a file: through a pipe both sides would wait for each other."""
    with tempfile.TemporaryFile() as sent:
        sent.write(content)
        sent.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", module.__name__],
            cwd=ROOT,
            stdin=sent,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=supervision.end_with_parent,
        )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _port(scene: Scene) -> int:
    return urlsplit(scene.url).port or 80
