"""How soon row files that mean harm are refused, each read as the service reads an upload."""

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from stores.batches.files.reading import SECONDS, read_rows
from stores.batches.files.records import FileRefused
from tests.support.hostile_row_files import SHOWN_AT_THE_START, shown_in_directory, shown_when_read

MAX_ROWS, REFUSED_MS = 20_000, 100
# Each is read so often; the best counts, since the first also loads what all of them need.
TIMES = 3


def refuse_hostile_files() -> Iterator[tuple[str, str, str, bool]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        later = shown_when_read(path, 9)
        early = {**shown_in_directory(), **{name: later.pop(name) for name in SHOWN_AT_THE_START}}
        # Only its name is at fault.
        del early["no workbook"]
        yield _slowest("refused before a process starts", path, early, REFUSED_MS)
        yield _slowest("refused by the process that reads them", path, later, 1000 * SECONDS)


def _slowest(what: str, path: Path, files: Mapping[str, bytes], most: float) -> tuple[str, str, str, bool]:
    times = {name: min(_refused_ms(path, content) for _ in range(TIMES)) for name, content in files.items()}
    name = max(times, key=lambda one: times[one])
    measured = f"{times[name]:.0f} ms ({name})"
    return (
        f"{len(times)} hostile files {what}, the slowest",
        measured,
        f"≤ {most:,.0f} ms",
        times[name] <= most,
    )


def _refused_ms(path: Path, content: bytes) -> float:
    path.write_bytes(content)
    name = "rows.json" if content.startswith(b"[") else "rows"
    began = time.perf_counter()
    try:
        read_rows(path=path, content_type="", name=name, max_rows=MAX_ROWS)
    except FileRefused:
        return 1000 * (time.perf_counter() - began)
    raise AssertionError("a hostile file was read")
